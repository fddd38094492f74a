/** `diff`: two snapshots of a service, of a directory, or of one each; its exit status, table and document. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

import { locate } from '../../src/cli/commands/diff.ts';
import { SnapshotClient } from '../../src/client/index.ts';
import { clientOf, corrupt, metadataOf, temporaryDirectory } from '../client/running-service.ts';
import { declarations } from '../support/example.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { publishExample, storeAt, temporaryRoot } from '../support/stores.ts';
import { COMMAND, run } from './command.ts';

const OLD = 'aa'.padEnd(32, '0');
const NEW = 'ab'.padEnd(32, '0');
const SAME = 'b'.repeat(32);
const LOST = 'c'.repeat(32);
const hasTerminal = spawnSync('script', ['--version']).error === undefined;
let service: RunningApp;
let contexts: string;

beforeAll(async () => {
  service = await startApp();
  const client = new SnapshotClient(service.url);
  const publish = (id: string, x: number, finished: string) =>
    client.publish(metadataOf(id, { scope: 'a\u001b[31m', finished_at_ns: finished }), {
      ids: BigInt64Array.of(1n, 2n, 3n),
      x: Int8Array.of(1, x, 3),
      long: new Int32Array(400_000).fill(x, 399_999),
    });
  await publish(OLD, 2, '1761782401000000001');
  await publish(SAME, 2, '1761782401000000002');
  await publish(LOST, 2, '1761782401000000003');
  await publish(NEW, 5, '1761782401000000004');
  await client.close();
  corrupt(join(service.root, 'snapshots', LOST, 'array-x.bin'));
  const directory = fs.mkdtempSync(join(service.root, 'contexts-'));
  contexts = join(directory, 'contexts.json');
  fs.writeFileSync(contexts, JSON.stringify(declarations));
  return () => service.close();
});

const diff = (args: readonly string[], env: Record<string, string> = {}) =>
  run(['diff', '--url', service.url, ...args], { env: { SNAPSHOTS_CONTEXTS: contexts, ...env } });

test.each([
  ['a service', () => [NEW, OLD]],
  ['a directory', () => [`${service.root}#${NEW}`, `${service.root}#${OLD}`]],
  ['a directory and a service', () => [`${service.root}#latest`, OLD]],
  ['a service and a directory', () => [`${service.url}#latest`, `${service.root}#aa`]],
  ['a service under two names', () => [`${service.url}/#ab`, OLD]],
])('gives the document of the library, whichever way the two are named: %s', async (_, sides) => {
  for (const options of [[], ['--key', 'ids']]) {
    const { code, out, err } = await diff([...sides(), ...options, '--json']);
    const expected = await service.store.compareSnapshots(
      NEW,
      OLD,
      options.length === 0 ? {} : { key: 'ids' },
    );
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(expected.arrays['x']).toMatchObject({ status: 'changed', differing: '1', first: '1' });
    expect(expected.arrays['long']).toMatchObject({ differing: '1', first: '399999' });
  }
});

test('ends with 0 where they are equal, and says nothing of it elsewhere than on a terminal', async () => {
  const { code, out, err } = await diff([OLD, SAME]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n').filter((line) => !/^array\t\S+\tequal\t/u.test(line))).toEqual([
    'metadata\tsnapshot.finished_at_ns\t1761782401000000001\t1761782401000000002',
    '',
  ]);
});

test('one line for each difference, with tabs, its kind first', async () => {
  const { code, out } = await diff([OLD, NEW, '--key', 'ids']);
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    'metadata\tsnapshot.finished_at_ns\t1761782401000000001\t1761782401000000004',
    'array\tids\tequal\t3 int64\t3 int64\t0\t-\t-\t-',
    'array\tlong\tchanged\t400000 int32\t400000 int32\t1\t399999\t399999\t[399999] 2 > 5',
    'array\tx\tchanged\t3 int8\t3 int8\t1\t1\t1\t[1] 2 > 5',
    'rows\tids\t0\t0\t1\t2',
    'row\t2\tchanged\tx',
    '',
  ]);
});

test.skipIf(!hasTerminal)(
  'on a terminal: obstacles first, tables, and what is compared by position is said',
  async () => {
    const root = temporaryRoot();
    const store = storeAt(root);
    await publishExample(store, OLD, { ids: Int8Array.of(1), other: Int8Array.of(1, 2) });
    await publishExample(
      store,
      NEW,
      { ids: Int8Array.of(1), other: Int8Array.of(1, 3) },
      { scope: 'b\u001b[31m' },
    );
    const line = `COLUMNS=100 ${process.execPath} ${COMMAND} diff ${root}#aa ${root}#ab --key ids --contexts ${contexts}`;
    const { out } = await run(['-qec', line, '/dev/null'], { program: 'script' });
    const text = out.replaceAll('\r', '');
    expect(text).toContain(
      `from  ${OLD}\nto    ${NEW}\nThey differ in snapshot.scope: what is compared may not be comparable.\n`,
    );
    expect(text).toMatch(/^METADATA +FROM +TO\nsnapshot\.scope +all rows +b/mu);
    expect(text).toMatch(/^ARRAY +STATUS +FROM +TO +DIFFERING/mu);
    expect(text).toContain('Rows by ids: 0 added, 0 removed, 0 changed, 1 the same.');
    expect(text).toContain('Of another length than ids, and so compared by position: other.');
    expect(text).toContain('They differ.');
    expect(text).not.toContain('\u001b[31m');
  },
);

describe('trouble ends with 2 and says what it is', () => {
  test.each([
    ['a flag that is none', ['--what', OLD, NEW], /unknown option/u],
    ['one snapshot', [OLD], /missing required argument/u],
    ['no such snapshot', [OLD, 'd'.repeat(32)], /No snapshot d+ is published/u],
    ['a beginning of none', [OLD, 'd'], /begins with d/u],
    ['a beginning of several', ['a', NEW], /several ids begin with a/u],
    ['no id', [OLD, 'x y'], /32 lowercase hex digits/u],
    ['no store', [OLD, '/nowhere#latest'], /\/nowhere is no store/u],
    ['no service', [OLD, 'http://127.0.0.1:1#latest'], /nothing listens there/u],
    ['a key that is not there', [OLD, NEW, '--key', 'rows'], /has no array rows/u],
    ['a damaged side', [OLD, LOST], /Snapshot c+ cannot be proven/u],
  ])('%s', async (_, args, expected) => {
    const { code, out, err } = await diff(args);
    expect(err).toMatch(expected);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  test('a damaged side of two stores with one id, by the words of the line', async () => {
    const copy = temporaryDirectory();
    fs.cpSync(join(service.root, 'snapshots'), join(copy, 'snapshots'), { recursive: true });
    corrupt(join(copy, 'snapshots', OLD, 'array-x.bin'));
    for (const args of [
      [OLD, `${copy}#${OLD}`],
      [`${copy}#${OLD}`, `${service.root}#${OLD}`],
    ]) {
      const { code, err } = await diff(args);
      expect(code).toBe(2);
      expect(err).toContain(`pipewhy-snapshots: ${copy}#${OLD}: Snapshot ${OLD} cannot be proven.`);
    }
  });

  test('as a problem document with --json', async () => {
    const { code, err } = await diff([OLD, LOST, '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ code: 'storage_integrity', snapshot_id: LOST });
  });
});

test('bytes that arrive of a service and are not those of its manifest yield no answer', async () => {
  const proxy = http.createServer((request, response) => {
    http.get(`${service.url}${request.url!}`, { headers: { connection: 'close' } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        if (request.url!.includes('array-long')) chunk[7]! ^= 1;
        response.write(chunk);
      });
      answer.on('end', () => response.end());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  try {
    const { code, out, err } = await diff([`http://127.0.0.1:${port}#${NEW}`, `${service.root}#${OLD}`]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/array long .* SHA-256/u);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
});

test('each service gets its token', async () => {
  const guarded = await appForTest({ settings: { token: 'secret' } });
  await publishExample(guarded.store, OLD, { ids: Int8Array.of(1) });
  const sides = [`${guarded.url}#${OLD}`, `${service.root}#${OLD}`];
  const { code, err } = await diff(sides);
  expect(code).toBe(2);
  expect(err).toContain('token');
  expect((await diff([...sides, '--token', 'secret'])).code).toBe(1);
  expect((await diff([...sides, '--token', 'wrong', '--from-token', 'secret'])).code).toBe(1);
  expect((await diff([...sides.toReversed(), '--to-token', 'secret'])).code).toBe(1);
});

test('an address ends at the first #, and a namespace may hold one', () => {
  expect(locate('./a#latest:x#y')).toEqual({ address: './a', id: 'latest:x#y' });
  expect(locate('latest:x#y')).toEqual({ address: null, id: 'latest:x#y' });
  expect(locate('01ab')).toEqual({ address: null, id: '01ab' });
  expect(locate('#01ab')).toEqual({ address: null, id: '01ab' });
});

test('the client gives the document, and none that is not the one asked for', async () => {
  const client = clientOf(service.url);
  const expected = await service.store.compareSnapshots(OLD, NEW, { key: 'ids' });
  expect(await client.compare(OLD, NEW, { key: 'ids' })).toEqual(JSON.parse(JSON.stringify(expected)));
  await expect(client.compare(OLD, 'x')).rejects.toMatchObject({ code: 'invalid_snapshot_id' });
  await expect(client.compare(OLD, NEW, { key: 'A' })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(client.compare(OLD, LOST)).rejects.toMatchObject({ code: 'storage_integrity' });
  for (const change of [{ from: NEW }, { equal: 'no' }, { arrays: { x: {} } }, { rows: undefined }]) {
    const answer = JSON.stringify({ ...expected, ...change });
    const wrong = http.createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
    await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve));
    const { port } = wrong.address() as { port: number };
    await expect(
      clientOf(`http://127.0.0.1:${port}`).compare(OLD, NEW, { key: 'ids' }),
    ).rejects.toMatchObject({
      code: 'protocol_violation',
    });
    wrong.close();
    wrong.closeAllConnections();
  }
});

test('the two months of the examples differ row by row as they were made to', async () => {
  const fresh = await appForTest();
  const script = fileURLToPath(new URL('../../examples/two-months/publish.mjs', import.meta.url));
  for (const _ of ['published', 'confirmed']) {
    const { code, out } = await run([script, fresh.url], { program: process.execPath });
    expect(code).toBe(0);
    expect(out).toMatch(/^2026-11 {2}110+\n2026-12 {2}120+\n$/u);
  }
  const { code, out } = await run([
    'diff',
    '--url',
    fresh.url,
    '11000',
    '12000',
    '--key',
    'package',
    '--json',
  ]);
  expect(code).toBe(1);
  const found = JSON.parse(out);
  expect(found).toMatchObject({ comparable: true, arrays: { name_length: { differing: '0' } } });
  // Of 5,000 every hundredth has gone, fifty have come, and of the others every tenth has changed.
  expect(found.rows).toMatchObject({ added: '50', removed: '50', changed: '495', same: '4455' });
  expect(found.arrays.downloads.differing).toBe('495');
});
