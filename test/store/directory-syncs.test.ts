import { describe, expect, test, vi } from 'vitest';

import { DirectorySyncs } from '../../src/store/directory-syncs.ts';
import type { FileSystemWriter } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { causes } from '../support/exhaust-faults.ts';
import { FaultFileSystem, systemError } from '../support/fault-file-system.ts';
import { idOf, publishExample, refusalOf, storeAt, temporaryRoot } from '../support/stores.ts';

interface Sync {
  readonly path: string;
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

/** Syncs that end when the test says so. */
function controlled() {
  const syncs: Sync[] = [];
  const fs = {
    syncDirectory: (path: string) =>
      new Promise<void>((resolve, reject) => {
        syncs.push({ path, succeed: resolve, fail: reject });
      }),
  } as unknown as FileSystemWriter;
  return { syncs, shared: new DirectorySyncs(fs) };
}

/** Runs everything that can run without a further event. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** What has become of a promise so far. */
function watch(promise: Promise<void>): { state: string } {
  const watched = { state: 'pending' };
  promise.then(
    () => (watched.state = 'done'),
    (error: unknown) => (watched.state = (error as Error).message),
  );
  return watched;
}

describe('shared directory syncs', () => {
  test('a sync that began before a rename does not count for it', async () => {
    const { syncs, shared } = controlled();
    const first = watch(shared.sync('d'));
    const second = watch(shared.sync('d'));
    expect(syncs).toHaveLength(1);
    syncs[0]!.succeed();
    await settle();
    expect([first.state, second.state]).toEqual(['done', 'pending']);
    expect(syncs).toHaveLength(2);
    syncs[1]!.succeed();
    await settle();
    expect(second.state).toBe('done');
  });

  test('all who wait while one is under way share the next one', async () => {
    const { syncs, shared } = controlled();
    const first = watch(shared.sync('d'));
    const waiting = [1, 2, 3].map(() => watch(shared.sync('d')));
    syncs[0]!.succeed();
    await settle();
    expect(first.state).toBe('done');
    expect(syncs).toHaveLength(2);
    // Under way already: who comes now needs a third.
    const late = watch(shared.sync('d'));
    syncs[1]!.succeed();
    await settle();
    expect(waiting.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    expect([late.state, syncs.length]).toEqual(['pending', 3]);
    syncs[2]!.succeed();
    await settle();
    expect(late.state).toBe('done');
  });

  test('directories do not wait for each other', async () => {
    const { syncs, shared } = controlled();
    const first = watch(shared.sync('a'));
    const second = watch(shared.sync('b'));
    expect(syncs.map(({ path }) => path)).toEqual(['a', 'b']);
    syncs[1]!.succeed();
    await settle();
    expect([first.state, second.state]).toEqual(['pending', 'done']);
  });

  test('a failure reaches those who relied on it and those who waited behind it; nobody syncs in their place', async () => {
    const { syncs, shared } = controlled();
    const first = watch(shared.sync('d'));
    const waiting = [1, 2].map(() => watch(shared.sync('d')));
    syncs[0]!.fail(new Error('EIO'));
    await settle();
    expect([first, ...waiting].map(({ state }) => state)).toEqual(['EIO', 'EIO', 'EIO']);
    expect(syncs).toHaveLength(1);
  });

  test('a failure of the next sync leaves those alone whom the first one served', async () => {
    const { syncs, shared } = controlled();
    const first = watch(shared.sync('d'));
    const second = watch(shared.sync('d'));
    syncs[0]!.succeed();
    await settle();
    syncs[1]!.fail(new Error('EIO'));
    await settle();
    expect([first.state, second.state]).toEqual(['done', 'EIO']);
  });

  test('who comes after a failure begins anew', async () => {
    const { syncs, shared } = controlled();
    const failed = watch(shared.sync('d'));
    const behind = watch(shared.sync('d'));
    syncs[0]!.fail(new Error('EIO'));
    await settle();
    const later = watch(shared.sync('d'));
    expect(syncs).toHaveLength(2);
    syncs[1]!.succeed();
    await settle();
    expect([failed.state, behind.state, later.state]).toEqual(['EIO', 'EIO', 'done']);
    const last = watch(shared.sync('d'));
    syncs[2]!.succeed();
    await settle();
    expect(last.state).toBe('done');
  });

  test('two publications of which one renamed while the sync of the other was failing are both uncertain', async () => {
    const root = temporaryRoot();
    let fail: (() => void) | null = null;
    let armed = false;
    const fileSystem = new FaultFileSystem(root, {
      ...nodeFileSystem,
      syncDirectory: (path) => {
        if (!armed || !path.endsWith('/snapshots')) return nodeFileSystem.syncDirectory(path);
        armed = false;
        return new Promise((_, reject) => {
          fail = () => {
            reject(systemError('EIO', { method: 'syncDirectory', path, outcome: 'failed' }));
          };
        });
      },
    });
    const store = storeAt(root, { fileSystem });
    await store.prepare();
    const renames = () =>
      fileSystem.log.filter(({ method, outcome }) => method === 'rename' && outcome === 'done');
    armed = true;
    const first = refusalOf(publishExample(store, idOf(1)), 'publication_uncertain');
    await vi.waitUntil(() => fail !== null);
    const second = refusalOf(publishExample(store, idOf(2)), 'publication_uncertain');
    await vi.waitUntil(() => renames().length === 2);
    await settle();
    fail!();
    for (const error of [await first, await second]) {
      expect(causes(error).at(-1)).toMatchObject({ code: 'EIO', syscall: 'fsync' });
      expect(error.details.location).toMatch(/^snapshots\/[0-9a-f]{32}$/u);
    }
    expect((await store.listSnapshots()).snapshots).toHaveLength(2);
    await publishExample(store, idOf(3));
  });

  test('one whose rename is under way while another sync fails is uncertain, whatever its own sync says', async () => {
    const root = temporaryRoot();
    let fail: (() => void) | null = null;
    let armed = false;
    const fileSystem = new FaultFileSystem(root, {
      ...nodeFileSystem,
      rename: async (from, to) => {
        await nodeFileSystem.rename(from, to);
        if (fail === null) return;
        // The rename has happened and its caller does not know yet: the sync that may have carried it fails now.
        fail();
        await settle();
      },
      syncDirectory: (path) => {
        if (!armed || !path.endsWith('/snapshots')) return nodeFileSystem.syncDirectory(path);
        armed = false;
        return new Promise((_, reject) => {
          fail = () => {
            reject(systemError('EIO', { method: 'syncDirectory', path, outcome: 'failed' }));
          };
        });
      },
    });
    const store = storeAt(root, { fileSystem });
    await store.prepare();
    armed = true;
    const first = refusalOf(publishExample(store, idOf(1)), 'publication_uncertain');
    await vi.waitUntil(() => fail !== null);
    await refusalOf(publishExample(store, idOf(2)), 'publication_uncertain');
    await first;
    fail = null;
    await publishExample(store, idOf(3));
  });
});
