/** Conditional requests, digests and ranges, and that none of them goes around a proof. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ask, problemOf, type Answer } from '../support/http.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { idOf, packagePath, pattern } from '../support/stores.ts';
import { bytesOf, EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';

const ID = idOf(1);
const CHILD = idOf(2);
const MIB = 1024 * 1024;
/** Several blocks of 1 MiB and a short last one. */
const LARGE = pattern(3 * MIB + 17);
const SMALL = EXAMPLE_ARRAYS['ids']!.bytes;

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes);
const reprDigest = (bytes: Uint8Array) => `sha-256=:${sha256(bytes).digest('base64')}:`;
const etagOf = (bytes: Uint8Array) => `"${sha256(bytes).digest('hex')}"`;

let service: RunningApp;
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  ask(service.url, `/snapshots/${ID}${path}`, { method, headers });

beforeAll(async () => {
  service = await startApp();
  const large = { large: { dtype: 'uint8', bytes: LARGE } };
  expect((await publish(service.url, ID, { ...EXAMPLE_ARRAYS, ...large })).status).toBe(201);
  expect((await publish(service.url, CHILD, EXAMPLE_ARRAYS, { parent_id: ID })).status).toBe(201);
});
afterAll(() => service.close());

const files = [
  '',
  '/manifest.json',
  '/complete.sha256',
  '/array-ids.bin',
  '/array-none.bin',
  '/array-large.bin',
];
const storedFile = (path: string) =>
  fs.readFileSync(packagePath(service.root, ID, path === '' ? 'manifest.json' : path));

describe.each(files)('of %s', (path) => {
  test('ETag and Repr-Digest are those of the exact bytes', async () => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.body.equals(storedFile(path))).toBe(true);
    expect(answer.headers.etag).toBe(etagOf(answer.body));
    expect(answer.headers['repr-digest']).toBe(reprDigest(answer.body));
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
  });

  test.each([
    ['the tag', (tag: string) => tag],
    ['the tag, weakly', (tag: string) => `W/${tag}`],
    ['a list that holds the tag', (tag: string) => `"a", W/"b,c" ,${tag}`],
    ['any', () => '*'],
  ])('If-None-Match naming %s is answered 304 without a body', async (_, named) => {
    const etag = etagOf(storedFile(path));
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(path, { 'if-none-match': named(etag) }, method);
      expect(answer.status).toBe(304);
      expect(answer.body).toHaveLength(0);
      expect(answer.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
      expect(answer.headers).not.toHaveProperty('content-type');
    }
  });

  test('If-None-Match naming another state is answered in full', async () => {
    const answer = await get(path, { 'if-none-match': '"0000"' });
    expect([answer.status, answer.body.equals(storedFile(path))]).toEqual([200, true]);
  });

  test('If-Match holds for the tag and any, and fails for weak and other tags', async () => {
    const etag = etagOf(storedFile(path));
    expect((await get(path, { 'if-match': etag })).status).toBe(200);
    expect((await get(path, { 'if-match': '*' })).status).toBe(200);
    for (const other of [`W/${etag}`, '"0000"', 'nonsense']) {
      expect(problemOf(await get(path, { 'if-match': other }), 'precondition_failed').expected).toBe(etag);
    }
  });
});

test.each(['ids', 'none', 'large'])(
  'a matching If-None-Match does not hide that array %s is damaged',
  async (key) => {
    const { url, root } = await appForTest();
    const arrays = { ...EXAMPLE_ARRAYS, large: { dtype: 'uint8', bytes: LARGE } };
    const { headers } = await publish(url, ID, arrays);
    const file = packagePath(root, ID, `array-${key}.bin`);
    const bytes = fs.readFileSync(file);
    const damaged = Buffer.from(bytes);
    if (damaged.length === 0) fs.appendFileSync(file, 'x');
    else fs.writeFileSync(file, damaged.fill(damaged.at(-1)! ^ 1, damaged.length - 1));
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['', '/manifest.json', '/complete.sha256']) {
        const condition = path === '/complete.sha256' ? '*' : headers.etag!;
        const answer = await ask(url, `/snapshots/${ID}${path}`, {
          method,
          headers: { 'if-none-match': condition },
        });
        expect(answer.status).toBe(500);
      }
      const answer = await ask(url, `/snapshots/${ID}/array-${key}.bin`, {
        method,
        headers: { 'if-none-match': etagOf(bytes), range: 'bytes=0-0' },
      });
      expect(answer.status).toBe(500);
    }
  },
);

const LAST = LARGE.length - 1;
test.each([
  ['the first byte', 'bytes=0-0', 0, 0],
  ['some in the middle', 'bytes=100-1000', 100, 1000],
  ['the last byte', `bytes=${LAST}-${LAST}`, LAST, LAST],
  ['an open end', `bytes=${LAST - 4}-`, LAST - 4, LAST],
  ['an end beyond the end', `bytes=10-${LARGE.length * 2}`, 10, LAST],
  ['everything', 'bytes=0-', 0, LAST],
  ['a suffix', 'bytes=-20', LAST - 19, LAST],
  ['a suffix longer than everything', `bytes=-${LARGE.length + 1}`, 0, LAST],
  ['the border of two blocks', `bytes=${MIB - 1}-${MIB}`, MIB - 1, MIB],
  ['exactly one block', `bytes=${MIB}-${2 * MIB - 1}`, MIB, 2 * MIB - 1],
  ['three blocks, the outer ones in part', `bytes=${MIB - 3}-${2 * MIB + 2}`, MIB - 3, 2 * MIB + 2],
  ['a unit in capitals', 'BYTES=5-6', 5, 6],
])('a Range of %s is answered 206 with exactly these bytes', async (_, range, first, last) => {
  const answer = await get('/array-large.bin', { range });
  expect(answer.status).toBe(206);
  expect(answer.headers['content-range']).toBe(`bytes ${first}-${last}/${LARGE.length}`);
  expect(answer.headers['content-length']).toBe(String(last - first + 1));
  expect(answer.body.equals(LARGE.subarray(first, last + 1))).toBe(true);
  // Of the whole representation, also on a part of it (RFC 9530).
  expect(answer.headers['repr-digest']).toBe(reprDigest(LARGE));
});

test.each([
  ['the first bytes', 'bytes=0-3', 0, 3],
  ['the last byte', 'bytes=-1', 23, 23],
  ['a suffix longer than everything', 'bytes=-25', 0, 23],
])('a Range of %s of a small array is answered 206', async (_, range, first, last) => {
  const answer = await get('/array-ids.bin', { range });
  expect([answer.status, answer.headers['content-range']]).toEqual([206, `bytes ${first}-${last}/24`]);
  expect(answer.body.equals(SMALL.subarray(first, last + 1))).toBe(true);
});

test.each([
  'bytes=0-1,3-4',
  'bytes=0-1,100-',
  'bytes=5-2',
  'bytes=-',
  'bytes=',
  'bytes=a-b',
  'bytes=0x1-2',
  'bytes=1-2-3',
  'bytes',
  'items=100-',
  'bytes=+1-2',
])('a Range that is several or none is ignored: %s', async (range) => {
  const answer = await get('/array-ids.bin', { range });
  expect([answer.status, answer.body.equals(SMALL)]).toEqual([200, true]);
  expect(answer.headers).not.toHaveProperty('content-range');
});

test.each([
  ['/array-ids.bin', 'bytes=24-', 24],
  ['/array-ids.bin', 'bytes=24-30', 24],
  ['/array-ids.bin', 'bytes=99999999999999999999999-', 24],
  ['/array-ids.bin', 'bytes=-0', 24],
  ['/array-large.bin', `bytes=${LARGE.length}-`, LARGE.length],
  ['/array-none.bin', 'bytes=0-', 0],
  ['/array-none.bin', 'bytes=0-0', 0],
  ['/array-none.bin', 'bytes=-5', 0],
])('a Range outside is answered 416 with the length: %s %s', async (path, range, length) => {
  const answer = await get(path, { range });
  expect(problemOf(answer, 'range_not_satisfiable').byte_length).toBe(String(length));
  expect(answer.headers['content-range']).toBe(`bytes */${length}`);
});

test('If-Range serves the part of the same state and everything of another', async () => {
  const range = 'bytes=1-2';
  const etag = etagOf(SMALL);
  expect((await get('/array-ids.bin', { range, 'if-range': etag })).status).toBe(206);
  for (const other of [`W/${etag}`, '"0000"', 'Wed, 21 Oct 2015 07:28:00 GMT']) {
    const answer = await get('/array-ids.bin', { range, 'if-range': other });
    expect([answer.status, answer.body.equals(SMALL)]).toEqual([200, true]);
  }
});

test('a Range of HEAD or beside a 304 is ignored', async () => {
  const head = await get('/array-ids.bin', { range: 'bytes=1-2' }, 'HEAD');
  expect([head.status, head.headers['content-length']]).toEqual([200, '24']);
  const same = await get('/array-ids.bin', { range: 'bytes=99-', 'if-none-match': '*' });
  expect(same.status).toBe(304);
});

test('an array says what it is', async () => {
  expect((await get('/array-ids.bin')).headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'array-dtype': 'uint64',
    'array-count': '3',
    'array-endianness': 'little',
    'accept-ranges': 'bytes',
    'content-disposition': 'attachment; filename="array-ids.bin"',
  });
  expect((await get('/array-none.bin')).headers).toMatchObject({
    'array-dtype': 'int16',
    'array-count': '0',
  });
});

test('intent.json is served as stored while the package holds it, and named by the manifest', async () => {
  const { url, root } = await appForTest();
  const id = idOf(7);
  await publish(url, id, EXAMPLE_ARRAYS);
  const path = `/snapshots/${id}/intent.json`;
  const stored = packagePath(root, id, 'intent.json');
  const answer = await ask(url, path);
  expect([answer.status, answer.body.equals(fs.readFileSync(stored))]).toEqual([200, true]);
  expect(answer.headers['repr-digest']).toBe(reprDigest(answer.body));
  expect((await ask(url, path, { method: 'HEAD' })).headers['content-length']).toBe(
    String(answer.body.length),
  );
  const again = await ask(url, path, { headers: { 'if-none-match': answer.headers.etag ?? '' } });
  expect(again.status).toBe(304);
  const related = `<${path}>; rel="related"`;
  expect((await ask(url, `/snapshots/${id}`)).headers['link']).toContain(related);
  fs.rmSync(stored);
  expect((await ask(url, `/snapshots/${id}`)).headers['link']).not.toContain('related');
  expect(problemOf(await ask(url, path), 'not_found').detail).toContain('holds no intent.json');
});

test('a manifest links to its parent, its arrays and its intent', async () => {
  const links = (await ask(service.url, `/snapshots/${CHILD}`)).headers['link'];
  expect(links).toBe(
    [
      `</snapshots/${ID}>; rel="predecessor-version"`,
      ...['flags', 'ids', 'none'].map((key) => `</snapshots/${CHILD}/array-${key}.bin>; rel="item"`),
      `</snapshots/${CHILD}/intent.json>; rel="related"`,
    ].join(', '),
  );
  expect((await get('')).headers['link']).not.toContain('predecessor-version');
});

test('a publication answers with the same headers as reading, and where to read', async () => {
  const id = idOf(3);
  const style = { headers: { 'if-none-match': '*' } };
  const created = await publish(service.url, id, EXAMPLE_ARRAYS, { parent_id: ID }, style);
  expect(created.status).toBe(201);
  expect(created.headers.location).toBe(`/snapshots/${id}`);
  const read = await ask(service.url, `/snapshots/${id}`);
  expect(created.body.equals(read.body)).toBe(true);
  for (const name of ['etag', 'repr-digest', 'link', 'content-type', 'content-length']) {
    expect([name, created.headers[name]]).toEqual([name, read.headers[name]]);
  }
});

test('a proven array of many blocks leaves whole', async () => {
  const id = idOf(4);
  const bytes = bytesOf(new BigUint64Array(new Uint8Array(pattern(5 * MIB, 7)).buffer));
  expect((await publish(service.url, id, { big: { dtype: 'uint64', bytes } })).status).toBe(201);
  const answer = await ask(service.url, `/snapshots/${id}/array-big.bin`);
  expect(answer.body.equals(bytes)).toBe(true);
  expect(answer.headers['content-length']).toBe(String(bytes.length));
});
