import { describe, expect, test } from 'vitest';

import type { SnapshotError } from '../../src/contract/errors.ts';
import { payloadsOf } from '../../src/store/arrivals.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import { emptyDirectory, memoryFileSystem } from '../support/memory-file-system.ts';
import { collect, declarations, idOf, metadataOf, refusalOf } from '../support/stores.ts';

const MIB = 1024 * 1024;
const ID = idOf(1);

/** Lets everything end that is about to. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function storeWith(arrays: Record<string, Uint8Array>) {
  const fs = new FaultFileSystem('/store', memoryFileSystem(emptyDirectory()));
  const store = new LocalSnapshotStore('/store', { declarations, fileSystem: fs });
  await store.publish(metadataOf(ID), arrays);
  const operationsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const start = fs.log.length;
    await work();
    return fs.log.length - start;
  };
  const blocksRead = (): number =>
    fs.log.filter(({ method, path }) => method === 'readSync' && path.endsWith('array-large.bin')).length;
  return { fs, store, operationsOf, blocksRead };
}

function tinyArrays(count: number): Record<string, Uint8Array> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, Uint8Array.of(index)]));
}

describe('a package is proven once per request, whatever it holds', () => {
  const ways: Record<string, (store: LocalSnapshotStore) => Promise<unknown>> = {
    'as files': async (store) => {
      for (const file of (await store.openPackage(ID)).files) await collect(file.blocks());
    },
    'in memory': (store) => store.open(ID),
  };

  test.each(Object.keys(ways))(
    '%s: within 2.5 times of proving it, for any number of arrays',
    async (way) => {
      for (const count of [10, 100, 1000]) {
        const { store, operationsOf } = await storeWith(tinyArrays(count));
        const proof = await operationsOf(() => store.readManifest(ID));
        expect(await operationsOf(() => ways[way]!(store))).toBeLessThan(2.5 * proof);
      }
    },
  );

  test('large payloads are as many tasks as there are, and the first damage is told', async () => {
    const large = (fill: number) => new Uint8Array(2 * MIB).fill(fill);
    const { store, fs } = await storeWith({ a: large(1), b: large(2), c: large(3) });
    const read = fs.readSync.bind(fs);
    fs.readSync = (file, buffer, offset, length, position) => {
      const count = read(file, buffer, offset, length, position);
      const damaged = /array-[bc]/u.test(fs.open.get(file) ?? '') && position === MIB;
      if (damaged) buffer[offset] = 9;
      return count;
    };
    const { details } = await refusalOf(store.readManifest(ID), 'storage_integrity');
    expect(details).toMatchObject({ problem: 'checksum', location: 'array-b.bin', snapshot_id: ID });
    expect(fs.open.size).toBe(0);
  });
});

describe('a proof for nobody', () => {
  const SIZE = 64 * MIB;

  test.each(['readManifest', 'openArray', 'openPackage', 'open'] as const)(
    '%s ends at its next piece with the reason that was given',
    async (way) => {
      const { store, fs, blocksRead } = await storeWith({ large: new Uint8Array(SIZE) });
      const before = blocksRead();
      const controller = new AbortController();
      const reason = new Error('the client has left');
      fs.hook = ({ path, position }) => {
        if (path.endsWith('array-large.bin') && position === 12 * MIB) controller.abort(reason);
      };
      const options = { signal: controller.signal };
      const work: Promise<unknown> =
        way === 'openArray' ? store.openArray(ID, 'large', options) : store[way](ID, options);
      await expect(work).rejects.toBe(reason);
      await settle();
      expect(blocksRead() - before).toBeLessThanOrEqual(12 + 8 + 1);
      expect(fs.open.size).toBe(0);
    },
  );

  test('does not begin', async () => {
    const { store, operationsOf } = await storeWith({});
    const signal = AbortSignal.abort(new Error('gone'));
    expect(
      await operationsOf(() => expect(store.readManifest(ID, { signal })).rejects.toThrow('gone')),
    ).toBeLessThanOrEqual(1);
  });

  test('a publication whose sender leaves is not published; its attempt stays and is named', async () => {
    const { store, fs } = await storeWith({});
    const controller = new AbortController();
    async function* data() {
      yield { name: 'a', chunks: one() };
      // All has arrived: what is left is to read it back, to complete and to rename it.
      controller.abort(new Error('the sender has left'));
      await Promise.resolve();
    }
    async function* one() {
      yield new Uint8Array(3 * MIB);
      await Promise.resolve();
    }
    const { snapshot } = (await store.readManifest(ID)).manifest;
    const draft = {
      snapshot: { ...snapshot, snapshot_id: idOf(2) },
      arrays: { a: { dtype: 'uint8' as const } },
    };
    const error: SnapshotError = await refusalOf(
      store.publishDraft(draft, data(), { signal: controller.signal }),
      'publication_failed',
    );
    const { incomplete } = await store.inspectIncomplete();
    expect(incomplete.map(({ path }) => path)).toEqual([error.attempt]);
    expect((await store.listSnapshots()).snapshots).toHaveLength(1);
    expect(fs.open.size).toBe(0);
  });
});

test('a publication whose sender leaves while its attempt is synced is not renamed into place', async () => {
  const { store, fs } = await storeWith({});
  const controller = new AbortController();
  fs.hook = ({ method, path }) => {
    if (method === 'syncDirectory' && path.startsWith('staging/')) controller.abort(new Error('left'));
  };
  const { snapshot } = (await store.readManifest(ID)).manifest;
  const draft = { snapshot: { ...snapshot, snapshot_id: idOf(2) }, arrays: {} };
  const publication = store.publishDraft(draft, payloadsOf({}), { signal: controller.signal });
  await refusalOf(publication, 'publication_failed');
  expect(fs.count('rename')).toBe(1);
});

describe('readers of one unchanged file', () => {
  const SIZE = 20 * MIB;

  test('share one proof', async () => {
    const { store, blocksRead } = await storeWith({ large: new Uint8Array(SIZE).fill(3) });
    const before = blocksRead();
    const payloads = await Promise.all([1, 2, 3, 4].map(() => store.openArray(ID, 'large')));
    // Twenty blocks and the look behind their end.
    expect(blocksRead() - before).toBe(21);
    for (const payload of payloads) {
      expect((await collect(payload.blocks())).equals(Buffer.alloc(SIZE, 3))).toBe(true);
      await payload.close();
    }
    // Whoever comes after it has ended gets one of its own.
    const later = blocksRead();
    await (await store.openArray(ID, 'large')).close();
    expect(blocksRead() - later).toBe(21);
  });

  test('go on when one of them leaves, and end when all have', async () => {
    const { store, fs, blocksRead } = await storeWith({ large: new Uint8Array(SIZE) });
    const before = blocksRead();
    const leaving = [new AbortController(), new AbortController()] as const;
    const staying = new AbortController();
    fs.hook = ({ path, position }) => {
      if (path.endsWith('array-large.bin') && position === 9 * MIB) leaving[0].abort(new Error('one left'));
    };
    const [first, second, third] = await Promise.allSettled(
      [...leaving, staying].map(({ signal }) => store.openArray(ID, 'large', { signal })),
    );
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'one left' } });
    expect([second?.status, third?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(blocksRead() - before).toBe(21);
    for (const ended of [second, third]) if (ended?.status === 'fulfilled') await ended.value.close();
    expect(fs.open.size).toBe(0);

    const again = blocksRead();
    fs.hook = ({ path, position }) => {
      if (path.endsWith('array-large.bin') && position === 9 * MIB) {
        leaving[1].abort(new Error('left'));
        staying.abort(new Error('left'));
      }
    };
    await Promise.allSettled(
      [leaving[1], staying].map(({ signal }) => store.openArray(ID, 'large', { signal })),
    );
    await settle();
    expect(blocksRead() - again).toBeLessThanOrEqual(17);
    expect(fs.open.size).toBe(0);
  });
});
