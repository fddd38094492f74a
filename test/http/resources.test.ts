/** What there is and what there is not: HEAD, 404, 405, and ids that are refused before the disk hears of them. */
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ask, expectProblemHeaders, jsonOf, problemOf, stableHeaders } from '../support/http.ts';
import { declarations, idOf, packagePath, pattern, treeOf } from '../support/stores.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';

const ID = idOf(1);
let service: RunningApp;

beforeAll(async () => {
  service = await startApp();
  const large = { dtype: 'uint8', bytes: pattern(2 * 1024 * 1024 + 1) };
  expect((await publish(service.url, ID, { ...EXAMPLE_ARRAYS, large })).status).toBe(201);
  expect((await publish(service.url, idOf(2), EXAMPLE_ARRAYS, { parent_id: ID })).status).toBe(201);
  // One failed attempt, so that /incomplete has something to say.
  fs.mkdirSync(join(service.root, 'staging', 'a'.repeat(32)));
});
afterAll(() => service.close());

const resources = [
  '/snapshots',
  '/snapshots?limit=1',
  `/snapshots/${ID}`,
  `/snapshots/${ID}/manifest.json`,
  `/snapshots/${ID}/complete.sha256`,
  `/snapshots/${ID}/intent.json`,
  `/snapshots/${ID}/array-ids.bin`,
  `/snapshots/${ID}/array-none.bin`,
  `/snapshots/${ID}/array-large.bin`,
  `/snapshots/${ID}/array-ids.npy`,
  `/snapshots/${ID}/package.tar`,
  '/incomplete',
  '/contexts',
  '/healthz',
  '/readyz',
];

describe.each(resources)('%s', (path) => {
  test('answers HEAD with the headers of GET and no body', async () => {
    const got = await ask(service.url, path);
    const head = await ask(service.url, path, { method: 'HEAD' });
    expect(got.status).toBe(200);
    expect(head.status).toBe(200);
    expect(got.headers['content-length']).toBe(String(got.body.length));
    expect(stableHeaders(head)).toEqual(stableHeaders(got));
    expect(head.body).toHaveLength(0);
  });

  const methods =
    path.startsWith('/snapshots') && !path.startsWith('/snapshots/')
      ? ['GET', 'HEAD', 'POST']
      : ['GET', 'HEAD'];
  const others = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH', 'POST'];
  test.each(others.filter((method) => !methods.includes(method)))(
    'answers %s with 405 and what is allowed',
    async (method) => {
      const answer = await ask(service.url, path, { method });
      problemOf(answer, 'method_not_allowed');
      expect(answer.headers.allow).toBe(methods.join(', '));
    },
  );
});

test.each([
  '/snapshot',
  '/snapshots/',
  '/Snapshots',
  `/snapshots/${ID}/`,
  `/snapshots/${ID}/array-ids.bin/`,
  `/snapshots/${ID}/a/b`,
  '/incomplete/x',
  '/healthz/',
  '//snapshots',
])('nothing is at %s', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const answer = await ask(service.url, path, { method });
    expect([400, 404, 405]).toContain(answer.status);
    expectProblemHeaders(answer);
  }
});

test.each(['/snapshot', '/Snapshots', `/snapshots/${ID}/a/b`])(
  'a path that no resource has is not_found: %s',
  async (path) => {
    problemOf(await ask(service.url, path), 'not_found');
  },
);

test('a snapshot that is not there and an array it does not have are told apart', async () => {
  const absent = idOf(99);
  for (const path of ['', '/manifest.json', '/complete.sha256', '/array-ids.bin']) {
    expect(
      problemOf(await ask(service.url, `/snapshots/${absent}${path}`), 'snapshot_not_found').snapshot_id,
    ).toBe(absent);
  }
  const missing = problemOf(await ask(service.url, `/snapshots/${ID}/array-absent.bin`), 'array_not_found');
  expect(missing).toMatchObject({ snapshot_id: ID, array: 'absent' });
  for (const file of [
    'array-Ids.bin',
    'array-.bin',
    'array-ids',
    'constructor',
    '..%2fmanifest.json',
    'array-..%2fx.bin',
  ]) {
    problemOf(await ask(service.url, `/snapshots/${ID}/${file}`), 'not_found');
  }
});

const INVALID_IDS = [
  ['a decoded slash', `..%2f${'0'.repeat(29)}`],
  ['only a decoded slash', '%2f'],
  ['dots', '..%2f..%2fetc%2fpasswd'],
  ['a NUL', `${'0'.repeat(31)}%00`],
  ['a NUL after a valid id', `${ID}%00`],
  ['a newline after a valid id', `${ID}%0a`],
  ['upper case', 'ABCDEF'.padEnd(32, '0')],
  ['33 characters', `${ID}0`],
  ['31 characters', ID.slice(1)],
  ['full-width digits', encodeURIComponent('\uff10'.repeat(32))],
  ['dashes', '01234567-89ab-cdef-0123-456789abcdef'],
  ['a reserved Windows name', 'con'],
  ['a name of Object.prototype', '__proto__'],
  ['150 characters', 'a'.repeat(150)],
] as const;

describe.each(INVALID_IDS)('an id with %s', (_, id) => {
  test('is refused on every route, and the disk does not hear of it', async () => {
    const before = treeOf(service.root);
    for (const file of ['', '/manifest.json', '/complete.sha256', '/array-ids.bin']) {
      problemOf(await ask(service.url, `/snapshots/${id}${file}`), 'invalid_snapshot_id');
    }
    problemOf(await ask(service.url, `/snapshots/${id}`, { method: 'PUT' }), 'method_not_allowed');
    expect(treeOf(service.root)).toEqual(before);
  });

  test('is refused in metadata before anything is made', async () => {
    const before = treeOf(service.root);
    const answer = await publish(service.url, decodeURIComponent(id), EXAMPLE_ARRAYS);
    const problem = problemOf(answer, 'contract_violation');
    expect(problem.errors[0].path).toBe('snapshot.snapshot_id');
    expect(treeOf(service.root)).toEqual(before);
  });
});

test.each(['/snapshots/%', '/snapshots/%zz', '/snapshots/%ff', '/%c0%af'])(
  'a path that cannot be decoded is refused: %s',
  async (path) => {
    const answer = await ask(service.url, path);
    expect([400, 404]).toContain(answer.status);
    expectProblemHeaders(answer);
  },
);

test('an id longer than any path is refused', async () => {
  const answer = await ask(service.url, `/snapshots/${'a'.repeat(5_000)}`);
  expect([400, 404]).toContain(answer.status);
  expectProblemHeaders(answer);
});

test('the declarations in force are shown exactly', async () => {
  const answer = await ask(service.url, '/contexts');
  expect(answer.headers['content-type']).toBe('application/json');
  expect(jsonOf(answer)).toEqual(declarations);
});

test('the probes say alive and ready, and read no payload', async () => {
  fs.writeFileSync(packagePath(service.root, ID, 'array-ids.bin'), 'damaged');
  expect(jsonOf(await ask(service.url, '/healthz'))).toEqual({ status: 'alive' });
  expect(jsonOf(await ask(service.url, '/readyz'))).toEqual({ status: 'ready', read_only: false });
});

test('the probes need no token, everything else does', async () => {
  const guarded = await startApp({ settings: { token: 'open-sesame' } });
  try {
    for (const path of ['/healthz', '/readyz']) expect((await ask(guarded.url, path)).status).toBe(200);
    for (const path of ['/snapshots', '/incomplete', '/contexts', `/snapshots/${ID}`, '/nothing']) {
      problemOf(await ask(guarded.url, path), 'unauthorized');
    }
  } finally {
    await guarded.close();
  }
});

test('a store that cannot be written is alive and not ready', async () => {
  const broken = await startApp();
  try {
    fs.rmSync(join(broken.root, 'staging'), { recursive: true });
    expect((await ask(broken.url, '/healthz')).status).toBe(200);
    const answer = await ask(broken.url, '/readyz');
    problemOf(answer, 'unavailable');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/u);
  } finally {
    await broken.close();
  }
});
