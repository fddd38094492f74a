/**
 * Publications to cut the power of: each runs the real store over a recorded disk in memory and notes what was told to
 * clients, which must hold on every disk that a later cut may leave.
 */
import { basename } from 'node:path';
import { SnapshotError } from '../../src/contract/errors.ts';
import type { FileSystem } from '../../src/store/file-system.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { declarations, metadataOf } from './example.ts';
import { emptyDirectory, memoryFileSystem, type Pause } from './memory-file-system.ts';
import { randomOf } from './random.ts';
import { History, recordingFileSystem, withoutSync } from './recording-file-system.ts';

export const ROOT = '/store';

/** What a client was told: this snapshot is published with this manifest. */
export interface Told {
  readonly id: string;
  readonly manifestSha256: string;
  /** Name of the attempt that became it. */
  readonly attempt: string;
}

export interface Recording {
  readonly name: string;
  readonly history: History<Told>;
  /** Path of the sync that did nothing, where one was asked for. */
  readonly dropped: string | null;
}

interface Disk {
  readonly fs: FileSystem;
  readonly history: History<Told>;
  readonly random: () => number;
}

type Scenario = (disk: Disk) => Promise<void>;

const idOf = (digit: string): string => digit.repeat(32);

function storeOver(fs: FileSystem): LocalSnapshotStore {
  return new LocalSnapshotStore(ROOT, { declarations, fileSystem: fs });
}

/** Payloads without a zero byte, so that lost data never looks like stored data. */
function arraysOf(
  count: number,
  salt: number,
  sizes: readonly number[] = [5000, 9, 0],
): Record<string, Uint8Array> {
  return Object.fromEntries(
    sizes
      .slice(0, count)
      .map((size, index) => [
        'abc'.charAt(index),
        Uint8Array.from({ length: size }, (_, at) => 1 + ((at * 7 + salt + index) % 255)),
      ]),
  );
}

interface PublishOptions {
  readonly arrays?: number;
  readonly salt?: number;
  readonly parent?: string | null;
  /** Of the payloads, in bytes. */
  readonly sizes?: readonly number[];
}

async function publish(
  { history }: Disk,
  store: LocalSnapshotStore,
  id: string,
  { arrays = 1, salt = 0, parent = null, sizes }: PublishOptions = {},
): Promise<void> {
  const { sha256, attempt } = await store.publish(
    metadataOf(id, { parent_id: parent }),
    arraysOf(arrays, salt, sizes),
  );
  history.note({ id, manifestSha256: sha256, attempt });
}

/** The refusal is expected; anything else is not. */
async function unlessRefused(work: Promise<void>, code: string): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof SnapshotError) || error.code !== code) throw error;
  }
}

const single =
  (arrays: number): Scenario =>
  (disk) =>
    publish(disk, storeOver(disk.fs), idOf('1'), { arrays });

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'one writer, one array': single(1),
  'one writer, two arrays': single(2),
  'one writer, three arrays': single(3),
  'no arrays': single(0),
  'a child after its parent': async (disk) => {
    const store = storeOver(disk.fs);
    await publish(disk, store, idOf('1'));
    await publish(disk, store, idOf('2'), { parent: idOf('1') });
  },
  'two writers in one process': async (disk) => {
    const store = storeOver(disk.fs);
    await store.prepare();
    await Promise.all([
      publish(disk, store, idOf('1'), { arrays: 2 }),
      publish(disk, store, idOf('2'), { salt: 100 }),
    ]);
  },
  'a second rename while the first one is being synced': async (disk) => {
    const renamed: string[] = [];
    let secondRenamed = (): void => undefined;
    const second = new Promise<void>((resolve) => {
      secondRenamed = resolve;
    });
    const slow: FileSystem = {
      ...disk.fs,
      rename: async (from, to) => {
        await disk.fs.rename(from, to);
        if (renamed.push(to) === 2) secondRenamed();
      },
      syncDirectory: async (path) => {
        await disk.fs.syncDirectory(path);
        // Says so only after the second rename, which this sync came too early to cover.
        if (path.endsWith('/snapshots') && renamed.length === 1) await second;
      },
    };
    const store = storeOver(slow);
    await Promise.all([
      publish(disk, store, idOf('1'), { arrays: 2 }),
      publish(disk, store, idOf('2'), { salt: 100 }),
    ]);
  },
  'two processes on a fresh root': async (disk) => {
    await Promise.all([
      publish(disk, storeOver(disk.fs), idOf('1')),
      publish(disk, storeOver(disk.fs), idOf('2'), { salt: 100 }),
    ]);
  },
  'two processes, one id, different bytes': async (disk) => {
    await Promise.all(
      [0, 100].map((salt) =>
        unlessRefused(publish(disk, storeOver(disk.fs), idOf('1'), { salt }), 'snapshot_exists'),
      ),
    );
  },
  'two processes, one id, identical bytes': async (disk) => {
    await Promise.all(
      [1, 2].map(() => unlessRefused(publish(disk, storeOver(disk.fs), idOf('1')), 'snapshot_exists')),
    );
  },
  'a failed attempt, then a good one': async (disk) => {
    const store = storeOver(disk.fs);
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of it');
      throw new Error('the producer went away');
    }
    await unlessRefused(
      store.publish(metadataOf(idOf('1')), { a: { dtype: 'uint8', data: breaking() } }).then(() => undefined),
      'publication_failed',
    );
    await publish(disk, store, idOf('1'));
  },
  'a root that somebody has only just made': async (disk) => {
    await disk.fs.makeDirectory(ROOT);
    await publish(disk, storeOver(disk.fs), idOf('1'));
  },
  'killed after the rename, read after a restart': async (disk) => {
    let renamed = (_attempt: string): void => undefined;
    const died = new Promise<string>((resolve) => {
      renamed = resolve;
    });
    const dying: FileSystem = {
      ...disk.fs,
      rename: async (from, to) => {
        await disk.fs.rename(from, to);
        renamed(basename(from));
        // The process is gone: nothing follows, no answer, no sync.
        await new Promise(() => undefined);
      },
    };
    publish(disk, storeOver(dying), idOf('1')).catch(() => undefined);
    const attempt = await died;
    const restarted = storeOver(disk.fs);
    await restarted.prepare();
    for (const { snapshot_id: id, manifest_sha256: manifestSha256 } of (await restarted.listSnapshots())
      .snapshots) {
      disk.history.note({ id, manifestSha256, attempt });
    }
  },
};

const KIB = 1024;

/** One writer of one payload, by its bytes: around the piece and the block in which the engine works. */
export const SIZE_SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  [0, 1, 128 * KIB - 1, 128 * KIB + 1, 1024 * KIB - 1, 1024 * KIB + 1, 3 * 1024 * KIB].map((size) => [
    `one payload of ${size} bytes`,
    (disk: Disk) => publish(disk, storeOver(disk.fs), idOf('1'), { sizes: [size] }),
  ]),
);

/** Runs one scenario over a fresh disk; `dropSync` makes the n-th sync of its stores do nothing. */
export async function record(name: string, seed: number, dropSync?: number): Promise<Recording> {
  const random = randomOf(seed);
  const tree = emptyDirectory();
  const history = new History<Told>();
  const recorded = recordingFileSystem(memoryFileSystem(tree, turnsBefore(random)), history);
  let dropped: string | null = null;
  const fs =
    dropSync === undefined
      ? recorded
      : withoutSync(recorded, dropSync, (path) => {
          dropped = path;
        });
  const scenario = SCENARIOS[name] ?? SIZE_SCENARIOS[name];
  if (scenario === undefined) throw new Error(`There is no scenario "${name}".`);
  await scenario({ fs, history, random });
  return { name, history, dropped };
}

/**
 * Operations take effect after a random number of turns, and now and then a sync takes far longer than all else, so that
 * concurrent operations interleave differently per seed and much can happen while a sync is under way.
 */
function turnsBefore(random: () => number): Pause {
  return async (operation) => {
    const slow = operation.startsWith('fsync') && random() < 0.3;
    const turns = Math.floor(random() * (slow ? 2000 : 5));
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  };
}
