/** GET /snapshots/:id/compare/:other: the contract's document, its refusals, and an end when its client leaves. */
import fs from 'node:fs';
import net from 'node:net';
import { expect, test } from 'vitest';

import { ownPermits, Transfers } from '../../src/http/transfers.ts';
import { ask, jsonOf, pathsOf, problemOf } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { idOf, packagePath, publishExample } from '../support/stores.ts';

const FROM = idOf(1);
const TO = idOf(2);
const path = (from: string, to: string, query = ''): string => `/snapshots/${from}/compare/${to}${query}`;

async function pairAt() {
  const service = await appForTest();
  const { store } = service;
  await publishExample(store, FROM, { ids: BigInt64Array.of(1n, 2n), x: Uint8Array.of(1, 2) });
  await publishExample(
    store,
    TO,
    { ids: BigInt64Array.of(2n, 3n), x: Uint8Array.of(7, 3) },
    { parent_id: FROM },
  );
  return service;
}

test('the document, by position and by key, and as many bytes for HEAD', async () => {
  const { url, store } = await pairAt();
  for (const [query, options] of [
    ['', {}],
    ['?key=ids', { key: 'ids' }],
  ] as const) {
    const answer = await ask(url, path(FROM, TO, query));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
    });
    const found = jsonOf(answer);
    expect(found).toEqual(JSON.parse(JSON.stringify(await store.compareSnapshots(FROM, TO, options))));
    expect(found).toMatchObject({ from: FROM, to: TO, equal: false, comparable: true });
    const head = await ask(url, path(FROM, TO, query), { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(String(answer.body.length));
    expect(head.body).toHaveLength(0);
  }
  const { rows } = jsonOf(await ask(url, path(FROM, TO, '?key=ids')));
  expect(rows).toMatchObject({ key: 'ids', added: '1', removed: '1', changed: '1', same: '0' });
});

test('what cannot be compared is refused by name', async () => {
  const { url, root } = await pairAt();
  for (const wrong of [path('latest', TO), path(FROM, 'A'.repeat(32)), path(FROM, '..%2f')]) {
    problemOf(await ask(url, wrong), 'invalid_snapshot_id');
  }
  for (const wrong of ['?key=', '?key=Ids', '?key=a&key=b', '?key=__proto__', '?order=id']) {
    const problem = problemOf(await ask(url, path(FROM, TO, wrong)), 'invalid_request');
    expect(pathsOf(problem)).toEqual([wrong === '?order=id' ? 'order' : 'key']);
  }
  expect(problemOf(await ask(url, path(FROM, TO, '?key=constructor')), 'array_not_found')).toMatchObject({
    snapshot_id: FROM,
    array: 'constructor',
  });
  expect(problemOf(await ask(url, path(FROM, idOf(7))), 'snapshot_not_found')).toMatchObject({
    snapshot_id: idOf(7),
  });
  problemOf(await ask(url, path(FROM, TO), { method: 'POST' }), 'method_not_allowed');
  fs.appendFileSync(packagePath(root, TO, 'array-x.bin'), 'x');
  for (const damaged of [path(FROM, TO), path(TO, FROM)]) {
    expect(problemOf(await ask(url, damaged), 'storage_integrity')).toMatchObject({
      snapshot_id: TO,
      location: 'array-x.bin',
    });
  }
});

test('a comparison ends with its socket', async () => {
  const service = await pairAt();
  const signals: AbortSignal[] = [];
  const ended = new Promise<void>((resolve) => {
    service.store.compareSnapshots = async (_from, _to, { signal } = {}) =>
      new Promise((_, reject) => {
        signals.push(signal!);
        signal!.addEventListener('abort', () => {
          reject(signal!.reason as Error);
          resolve();
        });
      });
  });
  const { hostname, port } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${path(FROM, TO)} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  await expect.poll(() => signals.length).toBe(1);
  socket.destroy();
  await ended;
  expect(signals[0]!.aborted).toBe(true);
});

test('two comparisons run at once, and what waits holds nothing', async () => {
  const transfers = new Transfers({ uploads: ownPermits(1), downloadBytes: 1, processes: 1 });
  const controller = new AbortController();
  let running = 0;
  const ends: (() => void)[] = [];
  const begin = () =>
    transfers.reading({ signal: controller.signal } as never, 'comparison', async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    });
  const all = [begin(), begin(), begin(), begin()];
  await new Promise((resolve) => setImmediate(resolve));
  expect(running).toBe(2);
  for (let ended = 0; ended < all.length; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended);
    ends[ended]!();
  }
  await Promise.all(all);
  expect(running).toBe(0);
});
