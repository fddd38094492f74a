/** GET /snapshots: everything that is published, proven, in order, and nothing left out in silence. */
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { ask, jsonOf, pathsOf, problemOf, type Answer, type Json } from '../support/http.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { idOf, packagePath } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';

const COUNT = 23;
const PARENT = idOf(1);
let service: RunningApp;

const namespaceOf = (number: number): string => (number % 3 === 0 ? 'every third' : `a&b=${number % 2}`);

beforeAll(async () => {
  service = await startApp();
  // Published in another order than that of their ids.
  const numbers = Array.from({ length: COUNT }, (_, index) => 1 + ((index * 5) % COUNT));
  for (const number of numbers) {
    const changes = { source_namespace: namespaceOf(number), parent_id: number % 4 === 0 ? PARENT : null };
    expect((await publish(service.url, idOf(number), EXAMPLE_ARRAYS, changes)).status).toBe(201);
  }
});
afterAll(() => service.close());

const list = async (query = ''): Promise<Json> => {
  const answer = await ask(service.url, `/snapshots${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  return jsonOf(answer);
};
const idsOf = ({ snapshots }: Json): string[] =>
  snapshots.map((one: { snapshot_id: string }) => one.snapshot_id);
const all = Array.from({ length: COUNT }, (_, index) => idOf(index + 1));

/** Follows `Link: rel="next"` to the end, as given. */
async function pages(first: string): Promise<{ ids: string[][]; answers: Answer[] }> {
  const ids: string[][] = [];
  const answers: Answer[] = [];
  for (let path: string | undefined = first; path !== undefined;) {
    const answer: Answer = await ask(service.url, path);
    expect(answer.status).toBe(200);
    answers.push(answer);
    ids.push(idsOf(jsonOf(answer)));
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
    expect(path === undefined).toBe(jsonOf(answer).next === null);
  }
  return { ids, answers };
}

test('without a limit everything is listed, in the order of ids, each with exactly its fields', async () => {
  const listing = await list();
  expect(Object.keys(listing)).toEqual(['proof', 'snapshots', 'next']);
  expect(idsOf(listing)).toEqual(all);
  expect(listing.next).toBeNull();
  const manifest = fs.readFileSync(packagePath(service.root, idOf(4), 'manifest.json'));
  expect(listing.snapshots[3]).toStrictEqual({
    snapshot_id: idOf(4),
    parent_id: PARENT,
    source_namespace: namespaceOf(4),
    source_version: 'v1',
    scope: 'all rows',
    resolution: 'record',
    coverage_status: 'COMPLETE',
    started_at_ns: '1761782400000000000',
    finished_at_ns: '1761782401000000001',
    array_count: 3,
    byte_length: '27',
    manifest_sha256: sha256Hex(manifest),
  });
});

test.each([1, 7, COUNT - 1, COUNT, COUNT + 1, 10_000])(
  'pages of %i lead over all snapshots once',
  async (limit) => {
    const { ids, answers } = await pages(`/snapshots?limit=${limit}`);
    expect(ids.flat()).toEqual(all);
    expect(ids).toHaveLength(Math.ceil(COUNT / limit));
    for (const page of ids) expect(page.length).toBeLessThanOrEqual(limit);
    const first = jsonOf(answers[0]!);
    if (limit < COUNT) expect(first.next).toBe(ids[0]!.at(-1));
  },
);

test('after starts behind an id, also one that does not exist', async () => {
  expect(idsOf(await list(`?after=${idOf(20)}`))).toEqual(all.slice(20));
  expect(idsOf(await list(`?after=${'0'.repeat(32)}`))).toEqual(all);
  expect(await list(`?after=${'f'.repeat(32)}`)).toEqual({ proof: 'all', snapshots: [], next: null });
});

test('filters select exactly, and stay on every page', async () => {
  const third = all.filter((_, index) => (index + 1) % 3 === 0);
  expect(idsOf(await list('?source_namespace=every+third'))).toEqual(third);
  expect((await pages('/snapshots?source_namespace=every%20third&limit=2')).ids.flat()).toEqual(third);
  const odd = all.filter((_, index) => namespaceOf(index + 1) === 'a&b=1');
  const query = new URLSearchParams({ source_namespace: 'a&b=1', limit: '1' }).toString();
  expect((await pages(`/snapshots?${query}`)).ids).toEqual(odd.map((id) => [id]));
  const children = all.filter((_, index) => (index + 1) % 4 === 0);
  expect(idsOf(await list(`?parent_id=${PARENT}`))).toEqual(children);
  expect(idsOf(await list(`?parent_id=${PARENT}&source_namespace=every%20third`))).toEqual([idOf(12)]);
  expect(idsOf(await list('?source_namespace=every'))).toEqual([]);
});

test.each([
  ['limit=0', ['limit']],
  ['limit=-1', ['limit']],
  ['limit=1.5', ['limit']],
  ['limit=1e2', ['limit']],
  ['limit=10001', ['limit']],
  ['limit=', ['limit']],
  ['limit=٣', ['limit']],
  ['limit=1&limit=2', ['limit']],
  ['after=x', ['after']],
  ['after=', ['after']],
  [`after=${'A'.repeat(32)}`, ['after']],
  ['parent_id=..%2fetc', ['parent_id']],
  ['source_namespace=', ['source_namespace']],
  ['page=2', ['page']],
  ['__proto__=1', ['__proto__']],
  ['limit=no&after=no&x=1', ['after', 'limit', 'x']],
])('a query that cannot be meant is refused with every error: %s', async (query, paths) => {
  const problem = problemOf(await ask(service.url, `/snapshots?${encodeURI(query)}`), 'invalid_request');
  expect(pathsOf(problem).sort()).toEqual(paths);
});

test('an empty store lists nothing', async () => {
  const { url } = await appForTest();
  expect(jsonOf(await ask(url, '/snapshots'))).toEqual({ proof: 'all', snapshots: [], next: null });
  expect(jsonOf(await ask(url, '/snapshots?limit=1'))).toEqual({ proof: 'all', snapshots: [], next: null });
});

test.each([
  ['a file', (path: string) => fs.writeFileSync(path, '')],
  ['a directory', (path: string) => fs.mkdirSync(path)],
  ['a link', (path: string) => fs.symlinkSync('/nowhere', path)],
])('%s of a foreign name in snapshots/ fails the listing by name, on every page', async (_, make) => {
  const { url, root } = await appForTest();
  for (const number of [1, 2]) await publish(url, idOf(number), EXAMPLE_ARRAYS);
  make(join(root, 'snapshots', 'foreign "name"'));
  for (const query of ['', '?limit=1', `?after=${idOf(2)}`, '?source_namespace=other']) {
    const problem = problemOf(await ask(url, `/snapshots${query}`), 'storage_integrity');
    expect(pathsOf(problem)).toEqual(['foreign \\"name\\"']);
  }
  expect((await ask(url, `/snapshots/${idOf(1)}`)).status).toBe(200);
});

test.each([
  ['an empty directory', (path: string) => fs.mkdirSync(path)],
  ['a file', (path: string) => fs.writeFileSync(path, 'x')],
  ['a dangling link', (path: string) => fs.symlinkSync('/nowhere', path)],
  ['a link to a valid package', (path: string) => fs.symlinkSync(idOf(1), path)],
])('%s under an id is named by the listing, refused when read, and never overwritten', async (_, make) => {
  const { url, root } = await appForTest();
  await publish(url, idOf(1), EXAMPLE_ARRAYS);
  make(join(root, 'snapshots', idOf(2)));
  const before = fs.lstatSync(join(root, 'snapshots', idOf(2)), { bigint: true });
  expect(pathsOf(problemOf(await ask(url, '/snapshots'), 'storage_integrity'))).toEqual([idOf(2)]);
  for (const path of ['', '/manifest.json', '/complete.sha256', '/array-ids.bin']) {
    problemOf(await ask(url, `/snapshots/${idOf(2)}${path}`), 'storage_integrity');
  }
  const exists = problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS), 'snapshot_exists');
  expect(exists).toMatchObject({ location: `/snapshots/${idOf(2)}` });
  expect(exists).not.toHaveProperty('manifest_sha256');
  const { ino, mtimeNs, ctimeNs } = fs.lstatSync(join(root, 'snapshots', idOf(2)), { bigint: true });
  expect({ ino, mtimeNs, ctimeNs }).toEqual({
    ino: before.ino,
    mtimeNs: before.mtimeNs,
    ctimeNs: before.ctimeNs,
  });
});

test('a page fails only for what lies on it, and what lies before or behind it does not matter', async () => {
  const { url, root } = await appForTest();
  for (const number of [1, 2, 3, 4]) {
    await publish(url, idOf(number), EXAMPLE_ARRAYS, { source_namespace: number === 4 ? 'other' : 'one' });
  }
  fs.appendFileSync(packagePath(root, idOf(2), 'array-ids.bin'), 'x');
  const page = async (query: string) => ask(url, `/snapshots?${query}`);
  const first = await page('limit=1');
  expect(jsonOf(first)).toMatchObject({ snapshots: [{ snapshot_id: idOf(1) }], next: idOf(1) });
  expect(first.headers['link']).toContain(`after=${idOf(1)}`);
  for (const query of [`limit=1&after=${idOf(1)}`, 'limit=2', `limit=1&source_namespace=other`]) {
    expect(pathsOf(problemOf(await page(query), 'storage_integrity'))).toEqual([idOf(2)]);
  }
  expect(idsOf(jsonOf(await page(`limit=2&after=${idOf(2)}`)))).toEqual([idOf(3), idOf(4)]);
  // The filtered page is full before the damaged one; whether more follows cannot be told, so it says that there may be.
  expect(jsonOf(await page('limit=1&source_namespace=one'))).toMatchObject({ next: idOf(1) });
  expect(pathsOf(problemOf(await page(''), 'storage_integrity'))).toEqual([idOf(2)]);
});

test('damaged=show lists what cannot be proven among the others, foreign entries at the end, on pages too', async () => {
  const { url, root } = await appForTest();
  for (const number of [1, 2, 3]) await publish(url, idOf(number), EXAMPLE_ARRAYS);
  fs.appendFileSync(packagePath(root, idOf(2), 'array-ids.bin'), 'x');
  fs.mkdirSync(join(root, 'snapshots', 'foreign'));
  fs.mkdirSync(Buffer.concat([Buffer.from(join(root, 'snapshots/')), Buffer.from([0x7a, 0xff])]));
  const names = [idOf(1), idOf(2), idOf(3), 'foreign', 'z\\\\xff'];
  const whole = jsonOf(await ask(url, '/snapshots?damaged=show'));
  expect(idsOf(whole)).toEqual(names);
  expect(whole.snapshots[1]).toEqual({
    snapshot_id: idOf(2),
    problem: { code: 'storage_integrity', detail: expect.stringContaining('array-ids.bin') },
  });
  const seen: string[] = [];
  for (let path: string | undefined = '/snapshots?damaged=show&limit=2'; path !== undefined;) {
    const answer: Answer = await ask(url, path);
    const ids = idsOf(jsonOf(answer));
    expect(ids.length).toBeLessThanOrEqual(2);
    seen.push(...ids);
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
    expect(path === undefined || path.includes('damaged=show')).toBe(true);
  }
  expect(seen).toEqual(names);
});

test('proof=frame proves all but the checksums, and says so', async () => {
  const { url, root } = await appForTest();
  for (const number of [1, 2]) await publish(url, idOf(number), EXAMPLE_ARRAYS);
  const file = packagePath(root, idOf(1), 'array-ids.bin');
  const bytes = fs.readFileSync(file);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  fs.writeFileSync(file, bytes);
  for (const query of ['proof=frame', 'proof=frame&limit=2']) {
    const listing = jsonOf(await ask(url, `/snapshots?${query}`));
    expect(listing.proof).toBe('frame');
    expect(idsOf(listing)).toEqual([idOf(1), idOf(2)]);
  }
  problemOf(await ask(url, '/snapshots?proof=all'), 'storage_integrity');
  fs.appendFileSync(packagePath(root, idOf(2), 'array-ids.bin'), 'x');
  expect(pathsOf(problemOf(await ask(url, '/snapshots?proof=frame'), 'storage_integrity'))).toEqual([
    idOf(2),
  ]);
});

test('order=newest lists the last finished first and pages lead through it; since and until bound the time', async () => {
  const { url, root } = await appForTest();
  const times = [5, 1, 9, 5, 3, 7];
  for (const [at, time] of times.entries()) {
    const finished = String(1_800_000_000_000_000_000n + BigInt(time));
    await publish(url, idOf(at), EXAMPLE_ARRAYS, { finished_at_ns: finished });
  }
  const newest = [2, 5, 0, 3, 4, 1].map(idOf);
  expect(idsOf(jsonOf(await ask(url, '/snapshots?order=newest')))).toEqual(newest);
  const seen: string[][] = [];
  for (let path: string | undefined = '/snapshots?order=newest&limit=2&proof=frame'; path !== undefined;) {
    const answer: Answer = await ask(url, path);
    seen.push(idsOf(jsonOf(answer)));
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
    expect(path === undefined || /order=newest.*proof=frame/u.test(path)).toBe(true);
  }
  expect(seen).toEqual([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)]);
  const between = 'since=1800000000000000003&until=1800000000000000005';
  expect(idsOf(jsonOf(await ask(url, `/snapshots?${between}`)))).toEqual([0, 3, 4].map(idOf));
  expect(idsOf(jsonOf(await ask(url, `/snapshots?${between}&order=newest`)))).toEqual([0, 3, 4].map(idOf));
  // What cannot be read has no time: it comes last, and pages lead over it.
  fs.rmSync(packagePath(root, idOf(2), 'manifest.json'));
  const shown = '/snapshots?order=newest&damaged=show';
  expect(idsOf(jsonOf(await ask(url, shown)))).toHaveLength(6);
  const after = encodeURIComponent(`1800000000000000001.${idOf(1)}`);
  const tail = await appForTest({ root });
  expect(idsOf(jsonOf(await ask(tail.url, `${shown}&limit=3&after=${after}`)))).toEqual([idOf(2)]);
});

test.each([
  ['since=-1', ['since']],
  ['until=1e9', ['until']],
  ['since=18446744073709551616', ['since']],
  ['order=oldest', ['order']],
  ['proof=none', ['proof']],
  ['damaged=yes', ['damaged']],
  [`order=newest&after=${'0'.repeat(32)}`, ['after']],
  [`after=5.${'0'.repeat(32)}`, ['after']],
])('a listing that cannot be meant is refused: %s', async (query, paths) => {
  const { url } = await appForTest();
  expect(pathsOf(problemOf(await ask(url, `/snapshots?${query}`), 'invalid_request'))).toEqual(paths);
});

test('what cannot be proven after the first byte breaks the connection, and the log says why', async () => {
  const service = await appForTest();
  const { url, root } = service;
  for (const number of [1, 2, 3, 4]) {
    await publish(url, idOf(number), EXAMPLE_ARRAYS, { scope: String(number).repeat(200_000) });
  }
  fs.appendFileSync(packagePath(root, idOf(4), 'array-ids.bin'), 'x');
  const answer = await fetch(`${url}/snapshots`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  await expect
    .poll(() => service.logs.find((line) => line['method'] === 'GET' && line['path'] === '/snapshots'))
    .toMatchObject({ code: 'storage_integrity', ended: expect.not.stringMatching(/^answered$/u) });
  // Within the bounds it is an answer like any other; a page always is.
  problemOf(await ask(url, `/snapshots?after=${idOf(2)}`), 'storage_integrity');
  problemOf(await ask(url, '/snapshots?limit=4'), 'storage_integrity');
});

test('a page ends early in bytes too, and pages lead over everything once', async () => {
  const { url } = await appForTest();
  const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
  for (const number of numbers) {
    await publish(url, idOf(number), EXAMPLE_ARRAYS, { scope: 'x'.repeat(900_000) });
  }
  const seen: string[][] = [];
  for (let path: string | undefined = '/snapshots?limit=100'; path !== undefined;) {
    const answer: Answer = await ask(url, path);
    expect(answer.body.length).toBeLessThan(4.1 * 1024 * 1024);
    seen.push(idsOf(jsonOf(answer)));
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  expect(seen.map((ids) => ids.length)).toEqual([4, 4, 4]);
  expect(seen.flat()).toEqual(numbers.map(idOf));
});
