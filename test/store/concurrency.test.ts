import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import { isSnapshotError } from '../../src/contract/errors.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import {
  attemptsOf,
  idOf,
  packagePath,
  publishExample,
  refusalOf,
  storeAt,
  temporaryRoot,
  temporaryStore,
} from '../support/stores.ts';

const ID = idOf(1);

/** Counts how publications ended. */
async function outcomes(publications: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const result of await Promise.allSettled(publications)) {
    const name =
      result.status === 'fulfilled' ? 'published' : ((result.reason as { code?: string }).code ?? 'other');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Lets everyone wait until `count` have arrived. */
function barrier(count: number): () => Promise<void> {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === count) open();
    return opened;
  };
}

function filesOf(root: string, id = ID): Record<string, string> {
  const names = fs.readdirSync(packagePath(root, id)).sort();
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(packagePath(root, id, name), 'hex')]));
}

/** Writers 1, 2, … each publish their own bytes. */
const bytesOf = (writer: number) => ({ n: new Uint8Array([writer, writer]) });

describe('many publications of one id', () => {
  test('sixteen at once in one process: one is published, the others are told at once', async () => {
    const { root, store } = temporaryStore();
    const publications = Array.from({ length: 16 }, (_, at) => publishExample(store, ID, bytesOf(at)));
    expect(await outcomes(publications)).toEqual({ published: 1, publication_in_progress: 15 });
    expect(filesOf(root)['array-n.bin']).toBe('0000');
    expect(attemptsOf(root)).toEqual([]);
    await refusalOf(publishExample(store, ID), 'snapshot_exists');
  });

  test('eight processes that reach the rename together: one creates it, seven stay visible', async () => {
    const root = temporaryRoot();
    await storeAt(root).prepare();
    const meet = barrier(8);
    const fileSystems: FaultFileSystem[] = [];
    const publications = Array.from({ length: 8 }, async (_, at) => {
      const fileSystem = new FaultFileSystem(root);
      fileSystems.push(fileSystem);
      fileSystem.hook = ({ method }) => (method === 'rename' ? meet() : undefined);
      return publishExample(storeAt(root, { fileSystem }), ID, bytesOf(at));
    });
    expect(await outcomes(publications)).toEqual({ published: 1, snapshot_exists: 7 });

    const renames = fileSystems.flatMap(({ log }) => log.filter(({ method }) => method === 'rename'));
    expect(renames.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect(renames).toHaveLength(8);
    const { incomplete } = await storeAt(root).inspectIncomplete();
    expect(incomplete.map(({ phase, snapshot_id: id }) => [phase, id])).toEqual(
      Array.from({ length: 7 }, () => ['VALIDATED', ID]),
    );
    const winner = await Promise.any(publications);
    expect((await storeAt(root).readManifest(ID)).manifestSha256).toBe(winner.sha256);
    for (const fileSystem of fileSystems) expect(fileSystem.open.size).toBe(0);
  });

  test('two processes with eight writers each, again and again', async () => {
    for (let round = 0; round < 10; round += 1) {
      const root = temporaryRoot();
      const stores = [1, 2].map(() => {
        const fileSystem = new FaultFileSystem(root);
        fileSystem.hook = async ({ method }) => {
          if (method !== 'rename') return;
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        };
        return storeAt(root, { fileSystem });
      });
      const publications = stores.flatMap((store, process) =>
        Array.from({ length: 8 }, (_, at) => publishExample(store, ID, bytesOf(process * 8 + at))),
      );
      const counts = await outcomes(publications);
      expect(counts['published']).toBe(1);
      expect(counts['publication_in_progress']).toBe(14);
      expect(counts['snapshot_exists']).toBe(1);
      const winner = await Promise.any(publications);
      const before = filesOf(root);
      await refusalOf(publishExample(stores[0]!, ID, bytesOf(99)), 'snapshot_exists');
      await refusalOf(publishExample(stores[1]!, ID, bytesOf(99)), 'snapshot_exists');
      expect(filesOf(root)).toEqual(before);
      expect((await stores[0]!.readManifest(ID)).manifestSha256).toBe(winner.sha256);
      // The loser was told by its check or by its rename; either way all that it staged is still there.
      expect(attemptsOf(root).length).toBe(1);
    }
  });

  test('the loser names its attempt and the digest of the winner', async () => {
    const root = temporaryRoot();
    const winner = storeAt(root);
    const fileSystem = new FaultFileSystem(root);
    let published = '';
    fileSystem.hook = async ({ method }) => {
      if (method === 'rename') published = (await publishExample(winner, ID, bytesOf(1))).sha256;
    };
    const loser = storeAt(root, { fileSystem });
    const error = await refusalOf(publishExample(loser, ID, bytesOf(2)), 'snapshot_exists');
    expect(error.details.manifest_sha256).toBe(published);
    expect(error.attempt).toBe(`staging/${attemptsOf(root)[0]!}`);
    expect(filesOf(root)['array-n.bin']).toBe('0101');
  });

  test('an aborted loser harms no winner', async () => {
    const root = temporaryRoot();
    const first = storeAt(root);
    const second = storeAt(root);
    async function* aborted() {
      yield new Uint8Array([9]);
      await publishExample(first, ID, bytesOf(1));
      throw new Error('connection reset');
    }
    const error = await refusalOf(
      publishExample(second, ID, { n: { dtype: 'uint8', data: aborted() } }),
      'publication_failed',
    );
    expect((error.cause as Error).message).toBe('connection reset');
    expect(filesOf(root)['array-n.bin']).toBe('0101');
    await first.readManifest(ID);
    expect(attemptsOf(root)).toHaveLength(1);
  });
});

describe('publications of different ids', () => {
  test('forty in parallel over two processes all succeed and share their directory syncs', async () => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    const stores = [storeAt(root, { fileSystem }), storeAt(root)];
    const ids = Array.from({ length: 40 }, (_, at) => idOf(at + 1));
    const publications = ids.map((id, at) => publishExample(stores[at % 2]!, id, bytesOf(at)));
    expect(await outcomes(publications)).toEqual({ published: 40 });
    const { snapshots } = await storeAt(root).listSnapshots();
    expect(snapshots.map((summary) => summary.snapshot_id)).toEqual(ids);
    expect(attemptsOf(root)).toEqual([]);
    expect(fileSystem.open.size).toBe(0);
    const syncs = fileSystem.log.filter(
      ({ method, path }) => method === 'syncDirectory' && path === 'snapshots',
    );
    expect(syncs.length).toBeLessThanOrEqual(21);
  });

  test('one that fails takes no other with it', async () => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    const store = storeAt(root, { fileSystem });
    await store.prepare();
    fileSystem.arm({ at: 3, kind: 'EIO', method: 'sync' });
    const ids = Array.from({ length: 10 }, (_, at) => idOf(at + 1));
    const results = await Promise.allSettled(ids.map((id, at) => publishExample(store, id, bytesOf(at))));
    const failed = results.filter((result) => result.status === 'rejected');
    expect(failed).toHaveLength(1);
    expect(isSnapshotError(failed[0]!.reason, 'publication_failed')).toBe(true);
    expect((await storeAt(root).listSnapshots()).snapshots).toHaveLength(9);
    expect(attemptsOf(root)).toHaveLength(1);
  });

  test('a listing and an inspection beside running publications never see half a snapshot', async () => {
    const { store } = temporaryStore();
    await store.prepare();
    let running = true;
    const watching = (async () => {
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- ended from outside
      while (running) {
        await store.listSnapshots();
        const { incomplete } = await store.inspectIncomplete();
        for (const { phase } of incomplete) expect(['STAGING', 'VALIDATED', 'INVALID']).toContain(phase);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let number = 1; number <= 12; number += 4) {
      const ids = [0, 1, 2, 3].map((offset) => idOf(number + offset));
      await Promise.all(ids.map((id) => publishExample(store, id, bytesOf(number))));
    }
    running = false;
    await watching;
    expect((await store.listSnapshots()).snapshots).toHaveLength(12);
  });
});
