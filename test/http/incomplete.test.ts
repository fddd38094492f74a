/** GET /incomplete: what failed stays where it was, is shown with its phase, and is changed by nobody. */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { ask, jsonOf, pathsOf, problemOf, type Answer, type Json } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, packagePath, treeOf } from '../support/stores.ts';
import { bytesOf, EXAMPLE_ARRAYS, post, publish } from '../support/uploads.ts';

const draft = (id: string, arrays: object): Buffer =>
  Buffer.from(JSON.stringify({ snapshot: metadataOf(id), arrays }));
const ids = bytesOf(new BigUint64Array([1n, 2n, 3n]));

test('an attempt whose upload failed stays as it was and is shown as STAGING, named by the refusal', async () => {
  const { url, root } = await appForTest();
  const id = idOf(1);
  const metadata = draft(id, { ids: { dtype: 'uint64' }, more: { dtype: 'uint8' } });
  const problem = problemOf(await post(url, metadata, [{ name: 'ids', payload: ids }]), 'array_mismatch');
  const [attempt] = attemptsOf(root);
  expect(problem.attempt).toBe(`staging/${attempt}`);
  expect(fs.readdirSync(join(root, problem.attempt)).sort()).toEqual(['array-ids.bin', 'intent.json']);
  const { incomplete, next } = jsonOf(await ask(url, '/incomplete'));
  expect(next).toBeNull();
  expect(incomplete).toStrictEqual([
    {
      path: problem.attempt,
      snapshot_id: id,
      phase: 'STAGING',
      diagnostic: expect.stringContaining('1 further file'),
      byte_length: String(ids.length + `{"snapshot_id":"${id}"}`.length),
      modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u),
    },
  ]);
  // The failed attempt stands in nobody's way, and nobody takes it away.
  const arrays = { ids: { dtype: 'uint64', bytes: ids } };
  expect((await publish(url, id, arrays)).status).toBe(201);
  expect(attemptsOf(root)).toEqual([attempt]);
});

test('what is refused before anything is staged leaves nothing', async () => {
  const { url, root } = await appForTest();
  await publish(url, idOf(1), EXAMPLE_ARRAYS);
  problemOf(await publish(url, idOf(1), EXAMPLE_ARRAYS), 'snapshot_exists');
  problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS, { scope: '' }), 'contract_violation');
  problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS, { parent_id: idOf(3) }), 'parent_not_complete');
  expect(attemptsOf(root)).toEqual([]);
  expect(jsonOf(await ask(url, '/incomplete'))).toEqual({ incomplete: [], next: null });
});

test('every kind of leftover is shown with its phase, and nothing is changed by looking', async () => {
  const { url, root } = await appForTest();
  const id = idOf(1);
  await publish(url, id, EXAMPLE_ARRAYS);
  const attempt = (digit: string): string => join(root, 'staging', digit.repeat(32));
  const copy = (digit: string): string => {
    fs.cpSync(packagePath(root, id), attempt(digit), { recursive: true });
    return attempt(digit);
  };
  copy('1');
  fs.rmSync(join(copy('2'), 'complete.sha256'));
  fs.appendFileSync(join(copy('3'), 'array-ids.bin'), 'x');
  fs.rmSync(join(copy('4'), 'intent.json'));
  fs.mkdirSync(attempt('5'));
  fs.writeFileSync(attempt('6'), 'not a directory');
  fs.symlinkSync(packagePath(root, id), attempt('7'));
  fs.mkdirSync(join(root, 'staging', 'foreign'));
  const before = treeOf(root);
  const { incomplete } = jsonOf(await ask(url, '/incomplete'));
  expect(
    incomplete.map(({ path, phase, snapshot_id }: Json) => [path.slice(8, 9), phase, snapshot_id]),
  ).toEqual([
    ['1', 'VALIDATED', id],
    ['2', 'STAGING', id],
    ['3', 'INVALID', id],
    ['4', 'INVALID', null],
    ['5', 'INVALID', null],
    ['6', 'INVALID', null],
    ['7', 'INVALID', null],
    ['f', 'INVALID', null],
  ]);
  for (const { diagnostic } of incomplete) expect(diagnostic).toMatch(/\S/u);
  expect(treeOf(root)).toEqual(before);
});

test('paging leads over all attempts once', async () => {
  const { url, root } = await appForTest();
  const names = Array.from({ length: 11 }, (_, index) => idOf(index));
  for (const name of names) fs.mkdirSync(join(root, 'staging', name));
  const seen: string[] = [];
  let pages = 0;
  for (let path: string | undefined = '/incomplete?limit=4'; path !== undefined; pages += 1) {
    const answer: Answer = await ask(url, path);
    expect(answer.headers['cache-control']).toBe('no-store');
    seen.push(...jsonOf(answer).incomplete.map((one: { path: string }) => one.path));
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
    expect(path === undefined).toBe(jsonOf(answer).next === null);
  }
  expect(seen).toEqual(names.map((name) => `staging/${name}`));
  expect(pages).toBe(3);
});

test.each([
  ['limit=0', ['limit']],
  ['limit=x&phase=STAGING', ['limit', 'phase']],
  ['after=', ['after']],
  [`after=${'a'.repeat(256)}`, ['after']],
  [`after=${'%C3%A9'.repeat(128)}`, ['after']],
])('a query that cannot be meant is refused: %s', async (query, paths) => {
  const { url } = await appForTest();
  expect(pathsOf(problemOf(await ask(url, `/incomplete?${query}`), 'invalid_request')).sort()).toEqual(paths);
});

test('paging loses no name, also those that are no text or hold what cursors are made of', async () => {
  const { url, root } = await appForTest();
  const names = ['a', 'a\\', 'a\\xff', 'é', 'ÿ', '\u{1f600}'].map((name) => Buffer.from(name));
  names.push(Buffer.from([0x61, 0xfe]), Buffer.from([0x61, 0xff]), Buffer.from([0xff]));
  for (const name of names) fs.mkdirSync(Buffer.concat([Buffer.from(join(root, 'staging/')), name]));
  const expected = names.sort(Buffer.compare).map((name) => `staging/${name.toString('utf8')}`);
  const whole = jsonOf(await ask(url, '/incomplete'));
  expect(whole.incomplete.map(({ path }: Json) => path)).toEqual(expected);
  const seen: string[] = [];
  for (let path: string | undefined = '/incomplete?limit=1'; path !== undefined;) {
    const answer: Answer = await ask(url, path);
    seen.push(...jsonOf(answer).incomplete.map((one: { path: string }) => one.path));
    path = /^<([^>]+)>; rel="next"$/u.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  expect(seen).toEqual(expected);
});

test('why an attempt was refused is told with it, and in the line of its request, while the process lives', async () => {
  const service = await appForTest();
  const { url, root } = service;
  const metadata = draft(idOf(1), { ids: { dtype: 'uint64' }, more: { dtype: 'uint8' } });
  const problem = problemOf(await post(url, metadata, [{ name: 'ids', payload: ids }]), 'array_mismatch');
  const [told] = jsonOf(await ask(url, '/incomplete')).incomplete;
  expect(told.phase).toBe('STAGING');
  expect(told.diagnostic).toContain(
    'It was refused with array_mismatch: arrays.more: is declared but no part',
  );
  await expect
    .poll(() => service.logs.find((line) => line['code'] === 'array_mismatch' && line['msg'] === 'request'))
    .toMatchObject({ attempt: problem.attempt, detail: expect.stringContaining('arrays.more') });
  const later = await appForTest({ root });
  const [shown] = jsonOf(await ask(later.url, '/incomplete')).incomplete;
  expect(shown.diagnostic).not.toContain('refused with');
});

test('the first scrape tells what lies in staging, and a restart does not forget when something was published', async () => {
  const { url, root } = await appForTest();
  const figure = async (at: string, name: string): Promise<number | null> => {
    const text = (await ask(at, '/metrics')).body.toString();
    const value = new RegExp(`^pipewhy_snapshots_${name} (.+)$`, 'mu').exec(text)?.[1];
    return value === undefined ? null : Number(value);
  };
  expect(await figure(url, 'last_publication_timestamp_seconds')).toBeNull();
  await publish(url, idOf(1), EXAMPLE_ARRAYS);
  fs.mkdirSync(join(root, 'staging', 'a'.repeat(32)));
  fs.writeFileSync(join(root, 'staging', 'a'.repeat(32), 'intent.json'), 'x'.repeat(1234));
  const later = await appForTest({ root });
  expect(await figure(later.url, 'incomplete_bytes')).toBe(1234);
  const published = fs.statSync(join(root, 'snapshots')).mtimeMs / 1000;
  expect(await figure(later.url, 'last_publication_timestamp_seconds')).toBeCloseTo(published, 1);
  fs.renameSync(join(root, 'snapshots'), join(root, 'aside'));
  expect(await figure(later.url, 'snapshots')).toBeNull();
  expect(jsonOf(await ask(later.url, '/readyz')).code).toBe('unavailable');
});
