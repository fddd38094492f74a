/** A large snapshot is proven array by array, on several threads: as strictly as by one. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { proveSnapshot } from '../../src/cli/snapshot-proof.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import {
  clientOf,
  corrupt,
  metadataOf,
  startService,
  temporaryDirectory,
} from '../client/running-service.ts';
import { declarations, idOf } from '../support/stores.ts';

const ID = idOf(1);

async function published() {
  const { url, root } = await startService();
  const arrays = { a: new Uint8Array(5000), b: new Int32Array(300), c: new Uint8Array(0) };
  await clientOf(url).publish(metadataOf(ID), arrays);
  const store = new LocalSnapshotStore(root, { declarations });
  const prove = (spreadBytes: bigint) => proveSnapshot(store, root, ID, spreadBytes);
  return { store, root, prove, package: join(root, 'snapshots', ID) };
}

/** Once spread over the threads, once by one. */
const WAYS = [0n, 1n << 40n];

test('all arrays are under way at once, and none twice', async () => {
  const { store, root } = await published();
  const running: string[] = [];
  let most = 0;
  const watched = {
    readManifest: () => Promise.reject(new Error('must not prove everything once more')),
    openArray: async (...[id, key, options]: Parameters<typeof store.openArray>) => {
      running.push(key);
      most = Math.max(most, running.length);
      return store.openArray(id, key, options);
    },
  };
  expect(await proveSnapshot(watched, root, ID, 0n)).toBe(6200n);
  expect([most, running]).toEqual([3, ['a', 'b', 'c']]);
});

test('a whole snapshot is proven either way', async () => {
  const { prove } = await published();
  for (const way of WAYS) expect(await prove(way)).toBe(6200n);
});

test.each([
  [
    'a changed array',
    (path: string) => corrupt(join(path, 'array-b.bin')),
    { problem: 'checksum', location: 'array-b.bin' },
  ],
  ['a shorter array', (path: string) => fs.truncateSync(join(path, 'array-a.bin'), 7), { problem: 'length' }],
  ['a missing array', (path: string) => fs.rmSync(join(path, 'array-c.bin')), { problem: 'inventory' }],
  ['a stranger', (path: string) => fs.writeFileSync(join(path, 'x'), ''), { problem: 'inventory' }],
  ['a missing marker', (path: string) => fs.rmSync(join(path, 'complete.sha256')), { problem: 'marker' }],
  [
    'a manifest that is none',
    (path: string) => fs.writeFileSync(join(path, 'manifest.json'), '{}'),
    { problem: 'marker' },
  ],
] as const)('%s is told either way in the same words', async (_, damage, details) => {
  const { prove, package: path } = await published();
  damage(path);
  const [spread, alone] = await Promise.all(WAYS.map((way) => prove(way).catch((error: unknown) => error)));
  expect(spread).toMatchObject({ code: 'storage_integrity', details });
  expect((spread as Error).message).toBe((alone as Error).message);
});

test('a package that is replaced on the way is not proven', async () => {
  const { store, root } = await published();
  const openArray = async (...[id, key, options]: Parameters<typeof store.openArray>) =>
    Object.assign(await store.openArray(id, key, options), { manifestSha256: '0'.repeat(64) });
  const proving = proveSnapshot({ readManifest: store.readManifest.bind(store), openArray }, root, ID, 0n);
  await expect(proving).rejects.toThrow('changed while it was being proven');
});

test('what is not there is not found', async () => {
  const { store } = await published();
  await expect(proveSnapshot(store, temporaryDirectory(), idOf(2), 0n)).rejects.toMatchObject({
    code: 'snapshot_not_found',
  });
});

test('more arrays than the threads gain from are proven in one piece', async () => {
  const { url, root } = await startService();
  const keys = Array.from({ length: 17 }, (_, index) => `k${index}`);
  await clientOf(url).publish(
    metadataOf(ID),
    Object.fromEntries(keys.map((key) => [key, new Uint8Array(100)])),
  );
  const store = new LocalSnapshotStore(root, { declarations });
  const watched = {
    readManifest: store.readManifest.bind(store),
    openArray: () => Promise.reject(new Error('each array proves the whole frame again')),
  };
  expect(await proveSnapshot(watched, root, ID, 0n)).toBe(1700n);
});

test.skipIf(process.platform === 'win32')(
  'a FIFO in place of the manifest is refused, not waited for',
  async () => {
    const { prove, package: path } = await published();
    fs.rmSync(join(path, 'manifest.json'));
    execFileSync('mkfifo', [join(path, 'manifest.json')]);
    for (const way of WAYS) {
      await expect(prove(way)).rejects.toMatchObject({
        code: 'storage_integrity',
        details: { problem: 'inventory' },
      });
    }
  },
);
