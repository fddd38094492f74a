/** What is put through `exhaustFaults`: publications, reads, listings and inspections. */
import fs from 'node:fs';
import { join } from 'node:path';

import { isSnapshotError, type SnapshotError } from '../../src/contract/errors.ts';
import type { ArrayInput } from '../../src/store/arrivals.ts';
import type { IncompleteListing } from '../../src/store/inspection.ts';
import type { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import type { FaultScenario, FaultyRun } from './exhaust-faults.ts';
import { isChange, isError } from './fault-file-system.ts';
import { collect, idOf, metadataOf, packagePath, pattern, storeAt } from './stores.ts';

const ID = idOf(1);
const PARENT = idOf(2);
const LARGE = pattern(1024 * 1024 + 7);

const ids = new BigUint64Array([0n, 1n, 2n ** 64n - 1n]);
const flags = new Int8Array([-128, 0, 127]);

function publish(
  store: LocalSnapshotStore,
  arrays: Record<string, ArrayInput>,
  parent: string | null = null,
) {
  return store.publish(metadataOf(ID, { parent_id: parent }), arrays);
}

/** The bytes every file of the published package must have, from its own arrays. */
function payloadsOf(arrays: Record<string, ArrayInput>): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [key, array] of Object.entries(arrays)) {
    const { buffer, byteOffset, byteLength } = array as Uint8Array;
    files.set(`array-${key}.bin`, Buffer.from(buffer, byteOffset, byteLength));
  }
  return files;
}

function publication(
  name: string,
  arrays: Record<string, ArrayInput>,
  parent: string | null = null,
): FaultScenario {
  return {
    name,
    // One byte of reserve: the look at the free space is an operation too.
    options: { reserveBytes: 1 },
    prepare: async (store) => {
      await store.prepare();
      if (parent !== null) await store.publish(metadataOf(parent), { ids });
    },
    run: (store) => publish(store, arrays, parent),
    codes: publicationCodes,
    judge: (run) => judgePublication(run, arrays, parent),
  };
}

function wasRenamed({ log }: FaultyRun): boolean {
  return log.some(({ method, outcome }) => method === 'rename' && outcome === 'done');
}

function wasMade({ log }: FaultyRun): string | null {
  return log.find(({ method, outcome }) => method === 'makeDirectory' && outcome === 'done')?.path ?? null;
}

/** A look at the rooms themselves: whether they are those of the start could not be told. */
function struckRoom({ fs: { struck } }: FaultyRun): boolean {
  return struck?.method === 'statEntry' && (struck.path === 'snapshots' || struck.path === 'staging');
}

function publicationCodes(run: FaultyRun) {
  if (wasRenamed(run)) return ['publication_uncertain'] as const;
  if (struckRoom(run)) return ['unavailable', 'publication_failed', 'UnusableRootError'] as const;
  const full = run.kind === 'ENOSPC' || run.kind === 'EDQUOT';
  if (full) return ['insufficient_storage', 'publication_failed'] as const;
  // Nothing is known against the snapshot: the caller may come again.
  if (run.kind === 'EMFILE') return ['unavailable'] as const;
  const { struck } = run.fs;
  // The store's own directories may not be changed: no publication can succeed now, whatever it brings.
  if (run.kind === 'EACCES' && struck?.method === 'makeDirectory') return ['unavailable'] as const;
  if (run.kind === 'EACCES' && struck?.method === 'rename') return ['unavailable'] as const;
  if (run.kind === 'EACCES') return ['publication_failed', 'unavailable'] as const;
  // Of a parent that reads as empty nothing can be said but that it is no valid snapshot.
  if (run.kind === 'none' && wasMade(run) === null) return ['parent_not_complete'] as const;
  return ['publication_failed'] as const;
}

async function judgePublication(
  run: FaultyRun,
  arrays: Record<string, ArrayInput>,
  parent: string | null,
): Promise<string[]> {
  const found: string[] = [];
  // A second store is a second process: it knows nothing of the first.
  const fresh = storeAt(run.root);
  const published = wasRenamed(run);
  const { struck } = run.fs;
  if (struck !== null && isChange(struck) && (run.kind === 'ENOSPC' || run.kind === 'EDQUOT') && !published) {
    if (!isSnapshotError(run.error, 'insufficient_storage')) found.push('a full disk was not called one');
  }
  if (published) {
    found.push(...(await judgePublished(fresh, run, arrays)));
  } else {
    if (!('error' in run)) found.push('success without a rename');
    if (fs.existsSync(packagePath(run.root, ID))) found.push('something lies under the id');
    found.push(...(await judgeAttempt(fresh, run)));
  }
  // The disk is well again: the same store publishes, or says that the snapshot is there.
  try {
    await publish(run.store, arrays, parent);
    if (published) found.push('published twice');
  } catch (error) {
    if (!published || !isSnapshotError(error, 'snapshot_exists')) {
      found.push(`publishing again ended in ${String(error)}`);
    }
  }
  found.push(...(await judgePublished(fresh, run, arrays)));
  // Proving large arrays once more for every fault would be most of the time and say nothing new.
  if ('large' in arrays) return found;
  const listed = (await run.store.listSnapshots()).snapshots.map((summary) => summary.snapshot_id);
  const expected = parent === null ? [ID] : [ID, parent];
  if (listed.join() !== expected.join()) found.push(`the listing is ${listed.join()}`);
  return found;
}

async function judgePublished(
  fresh: LocalSnapshotStore,
  run: FaultyRun,
  arrays: Record<string, ArrayInput>,
): Promise<string[]> {
  try {
    await fresh.readManifest(ID);
    const found: string[] = [];
    for (const [file, bytes] of payloadsOf(arrays)) {
      if (!fs.readFileSync(packagePath(run.root, ID, file)).equals(bytes))
        found.push(`${file} has wrong bytes`);
    }
    return found;
  } catch (error) {
    return [`the published snapshot is not provable: ${String(error)}`];
  }
}

async function judgeAttempt(fresh: LocalSnapshotStore, run: FaultyRun): Promise<string[]> {
  const made = wasMade(run);
  const { incomplete } = await fresh.inspectIncomplete();
  const shown = incomplete.map(({ path }) => path);
  if (made === null) return shown.length > 0 ? [`an attempt nobody made: ${shown.join()}`] : [];
  const found: string[] = [];
  if (shown.join() !== made) found.push(`attempt ${made} is not what inspection shows (${shown.join()})`);
  const { attempt } = run.error as SnapshotError;
  if (attempt !== made) found.push(`the error names the attempt ${String(attempt)} instead of ${made}`);
  if (run.log.filter(({ method }) => method === 'makeDirectory').length !== 1)
    found.push('more than one attempt');
  return found;
}

const EXAMPLE = { ids, flags, large: LARGE } as const;

function reading(
  name: string,
  run: (store: LocalSnapshotStore) => Promise<unknown>,
  more: Partial<FaultScenario> = {},
): FaultScenario {
  return {
    name,
    reads: true,
    prepare: async (store) => {
      await publish(store, EXAMPLE);
      await store.publish(metadataOf(PARENT), { ids });
    },
    run,
    codes: (run) => (run.kind === 'EMFILE' || struckRoom(run) ? ['unavailable'] : ['storage_integrity']),
    judge: async (ended) => {
      const found = ended.log.filter(isChange).map(({ method, path }) => `a read did ${method} on ${path}`);
      await readArray(ended.store, 'ids').catch((error: unknown) => {
        found.push(`the same store does not read any more: ${String(error)}`);
      });
      return found;
    },
    ...more,
  };
}

/** Reads an array to its end, closes it and complains about every byte that is not its own. */
async function readArray(store: LocalSnapshotStore, key: keyof typeof EXAMPLE): Promise<void> {
  const payload = await store.openArray(ID, key);
  let bytes: Buffer;
  try {
    bytes = await collect(payload.blocks());
  } finally {
    await payload.close();
  }
  const expected = payloadsOf(EXAMPLE).get(`array-${key}.bin`);
  if (expected?.equals(bytes) !== true) throw new Error('a clean end with wrong bytes');
}

async function openAll(store: LocalSnapshotStore): Promise<void> {
  const { arrays } = await store.open(ID);
  for (const [key, array] of Object.entries(EXAMPLE)) {
    if (!Buffer.from(array.buffer).equals(Buffer.from((arrays[key] as unknown as Uint8Array).buffer))) {
      throw new Error('opened with wrong bytes');
    }
  }
}

async function listBoth(store: LocalSnapshotStore): Promise<void> {
  const { snapshots } = await store.listSnapshots();
  if (snapshots.length !== 2) throw new Error(`listed ${snapshots.length} of 2 without a word`);
}

/** Three attempts: only begun, never renamed, damaged. */
async function leaveAttempts(store: LocalSnapshotStore, root: string): Promise<void> {
  await store.publish(metadataOf(ID), { ids });
  const staging = join(root, 'staging');
  fs.renameSync(packagePath(root, ID), join(staging, 'a'.repeat(32)));
  fs.mkdirSync(join(staging, 'b'.repeat(32)));
  fs.writeFileSync(join(staging, 'b'.repeat(32), 'intent.json'), `{"snapshot_id":"${ID}"}`);
  fs.cpSync(join(staging, 'a'.repeat(32)), join(staging, 'c'.repeat(32)), { recursive: true });
  fs.appendFileSync(join(staging, 'c'.repeat(32), 'array-ids.bin'), 'x');
}

const HEALTHY = ['VALIDATED', 'STAGING', 'INVALID'];

/** All three stay in sight; the one whose read failed is said to be unreadable, the others are judged as ever. */
function judgeInspection({ value, kind, fs: { struck } }: FaultyRun): string[] {
  const { incomplete } = value as IncompleteListing;
  if (incomplete.length !== 3) return [`shows ${incomplete.length} of 3 attempts`];
  const changed = incomplete.filter(({ phase }, at) => phase !== HEALTHY[at]);
  // A file that reads as empty is no failed read but a damaged attempt.
  const expected = kind === 'none' ? 'INVALID' : 'UNAVAILABLE';
  const found = changed
    .filter(({ path, phase, diagnostic }) => {
      return phase !== expected || diagnostic === '' || struck?.path.startsWith(path) !== true;
    })
    .map((attempt) => `shown as ${JSON.stringify(attempt)}`);
  if (kind === 'half' && changed.length > 0) found.push('a short read changed the judgement');
  // The damaged one was judged already when its file was closed and when it was asked whether it is still there.
  const judged =
    struck?.method === 'closeSync' || (struck?.method === 'statEntry' && struck.path.endsWith('c'));
  if (isError(kind) && !judged && changed.length !== 1) found.push('no diagnostic tells of the failure');
  return found;
}

const inspection = reading('inspection', (store) => store.inspectIncomplete(), {
  prepare: leaveAttempts,
  // The listing of staging itself fails as a whole; what befalls one attempt is told in its diagnostic.
  codes: (run) => (run.kind === 'EMFILE' || struckRoom(run) ? ['unavailable'] : ['internal_error']),
  mayHide: () => true,
  judge: async (run) => [
    ...run.log.filter(isChange).map(({ method, path }) => `inspection did ${method} on ${path}`),
    ...('value' in run ? judgeInspection(run) : []),
  ],
});

const unusable = (run: FaultyRun) =>
  'error' in run
    ? (['UnusableRootError', ...(struckRoom(run) ? (['unavailable'] as const) : [])] as const)
    : [];

export const publicationScenarios: readonly FaultScenario[] = [
  publication('publication without arrays', {}),
  publication('publication of one array', { ids }),
  publication('publication of one large array', { large: LARGE }),
  publication('publication of three arrays, one large, with a parent', EXAMPLE, PARENT),
  {
    ...publication('publication under an id that exists', { ids }),
    prepare: (store) => publish(store, { ids }),
    // What lies there is only described; where that fails, the refusal stands without the description.
    codes: (run) => ['snapshot_exists', ...publicationCodes(run)],
    run: (store) => publish(store, { ids }).catch(describedOrNot),
    mayHide: ({ value }) => value === 'snapshot_exists',
    judge: (run) => judgePublished(storeAt(run.root), run, { ids }),
  },
];

function describedOrNot(error: unknown): string {
  if (isSnapshotError(error, 'snapshot_exists')) return error.code;
  throw error;
}

/** Enough for the disk to be asked to begin writing before the end (`syncData`). */
export const longPublication = publication('publication of 33 MiB', { large: pattern(33 * 1024 * 1024) });

export const readingScenarios: readonly FaultScenario[] = [
  reading('proof of a snapshot', (store) => store.readManifest(ID)),
  reading('read of a small array', (store) => readArray(store, 'ids')),
  reading('read of a large array', (store) => readArray(store, 'large')),
  reading('opening of a snapshot', openAll),
  reading('listing', listBoth, {
    codes: (run) => {
      if (run.kind === 'EMFILE' || struckRoom(run)) return ['unavailable'];
      const { struck } = run.fs;
      return struck?.path === 'snapshots' ? ['internal_error'] : ['storage_integrity'];
    },
  }),
  inspection,
];

export const rootScenario: FaultScenario = {
  name: 'preparation of a root',
  run: (store) => store.prepare(),
  codes: unusable,
  // A root that somebody else made may lie in a directory that this process may not open.
  mayHide: ({ kind, fs: { struck } }) => kind === 'EACCES' && struck?.path === '..',
  judge: async ({ store }) => {
    await store.publish(metadataOf(ID), { ids });
    return [];
  },
};
