/** Brings snapshots from FROM to TO: each proven when it is read, streamed, proven when it is published, byte-identical. */
import { OutcomeUnknownError, SnapshotClientError, TimeoutError } from '../../client/errors.ts';
import type { RetryPolicy } from '../../client/options.ts';
import type { BytesInput } from '../../client/sources.ts';
import { isTransient, pauseAfter, wait } from '../../client/transport.ts';
import { isAnySnapshotError, isSnapshotError } from '../../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../../contract/ids.ts';
import type { ArrayEntry } from '../../contract/manifest.ts';
import type { ProvenManifest } from '../../contract/opened.ts';
import type { IncomingPayload } from '../../store/arrivals.ts';
import type { OpenedStore, SideName } from '../stores.ts';
import { differs, withoutParent, type Plan, type Problem, type Wanted } from './plan.ts';

/** How one snapshot ended: `equal` where somebody else had brought it by then, `stopped` where nobody waits any more. */
export type Ending =
  | { readonly is: 'copied' | 'equal' | 'stopped' }
  | {
      readonly is: 'failed';
      readonly problem: Problem;
      /** Says nothing of other snapshots, unlike a service that cannot be reached. */
      readonly isOfSnapshot: boolean;
    };

export interface Brought {
  readonly copied: readonly Wanted[];
  /** That somebody else brought meanwhile. */
  readonly equal: number;
  readonly problems: readonly Problem[];
  /** Left out, as the run was stopped or given up. */
  readonly notTried: number;
}

export interface BringOptions {
  /** Snapshots under way at once. */
  readonly jobs: number;
  /** Nothing is begun after it; what runs goes on to its end. */
  readonly signal: AbortSignal;
}

/** So many failures in a row that are not of the snapshots themselves: the next would fail as well. */
const GIVE_UP_AFTER = 3;

/** Brings all that is wanted, a parent before its children, and whatever can be brought although something else cannot. */
export async function bringAll(
  { wanted, blocked }: Plan,
  copy: (one: Wanted) => Promise<Ending>,
  { jobs, signal }: BringOptions,
): Promise<Brought> {
  const children = childrenOf(wanted);
  const left = new Set(wanted.keys());
  const ready: Wanted[] = [];
  const copied: Wanted[] = [];
  const problems: Problem[] = [];
  let equal = 0;
  let failuresInRow = 0;

  const fail = (first: Wanted, why: Problem): void => {
    const failing: (readonly [Wanted, Problem])[] = [[first, why]];
    for (let next = failing.pop(); next !== undefined; next = failing.pop()) {
      const [one, problem] = next;
      if (!left.delete(one.id)) continue;
      problems.push(problem);
      for (const child of children.get(one.id) ?? []) {
        failing.push([child, withoutParent(child, 'could not be brought')]);
      }
    }
  };
  const run = async (one: Wanted): Promise<void> => {
    const ending = await copy(one);
    if (ending.is === 'stopped') return;
    if (ending.is === 'failed') {
      failuresInRow = ending.isOfSnapshot ? failuresInRow : failuresInRow + 1;
      fail(one, ending.problem);
      return;
    }
    failuresInRow = 0;
    left.delete(one.id);
    if (ending.is === 'copied') copied.push(one);
    else equal += 1;
    for (const child of children.get(one.id) ?? []) ready.push(child);
  };

  for (const one of wanted.values()) {
    const problem = blocked.get(one.id);
    if (problem !== undefined) fail(one, problem);
    else if (one.parentId === null || !wanted.has(one.parentId)) ready.push(one);
  }
  const isOver = (): boolean => signal.aborted || failuresInRow >= GIVE_UP_AFTER;
  const running = new Set<Promise<void>>();
  for (let at = 0; ;) {
    for (; at < ready.length && running.size < jobs && !isOver(); at += 1) {
      const job: Promise<void> = run(ready[at] as Wanted).finally(() => running.delete(job));
      running.add(job);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (!isOver()) {
    // Everything had its turn but what waits for itself.
    for (const id of left) {
      const one = wanted.get(id) as Wanted;
      fail(one, withoutParent(one, 'has this snapshot among its own parents'));
    }
  }
  return { copied, equal, problems, notTried: left.size };
}

function childrenOf(wanted: Plan['wanted']): ReadonlyMap<SnapshotId, readonly Wanted[]> {
  const children = new Map<SnapshotId, Wanted[]>();
  for (const one of wanted.values()) {
    if (one.parentId === null || !wanted.has(one.parentId)) continue;
    const siblings = children.get(one.parentId);
    if (siblings === undefined) children.set(one.parentId, [one]);
    else siblings.push(one);
  }
  return children;
}

/** Failures that may pass, on either side. A client has tried its reads again by itself before. */
const PATIENCE: RetryPolicy = {
  attempts: 4,
  minDelayMs: 250,
  maxDelayMs: 5_000,
  maxRetryAfterMs: 60_000,
};

/** Somebody else is publishing the same snapshot at TO: some ten minutes for it to be there. */
const TURN: RetryPolicy = { ...PATIENCE, attempts: 150 };

/** Codes of failures that another snapshot need not share. */
const OF_SNAPSHOT: ReadonlySet<string> = new Set([
  'array_mismatch',
  'array_not_found',
  'checksum_mismatch',
  'contract_violation',
  'fingerprint_context_mismatch',
  'limit_exceeded',
  'parent_not_complete',
  'publication_in_progress',
  'snapshot_exists',
  'snapshot_not_found',
  'storage_integrity',
  'unsupported_package',
]);

/** Copies one snapshot, again where a failure may pass. `onBytes` hears what was read, negative where it was in vain. */
export async function copySnapshot(
  stores: Readonly<Record<SideName, OpenedStore>>,
  { id }: Wanted,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Ending> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = new Copy(stores, id);
    try {
      await copy.run(onBytes);
      return { is: 'copied' };
    } catch (error) {
      onBytes(-copy.bytes);
      const { side, cause } = copy.failure ?? { side: 'to', cause: error };
      if (side === 'to' && isSnapshotError(cause, 'snapshot_exists')) {
        return existing(id, copy.manifestSha256, cause.details.manifest_sha256 ?? null);
      }
      const policy = policyOf(cause);
      const pause = policy === null ? null : pauseAfter(attempt, cause, policy);
      if (pause === null) return failed(id, side, cause);
      try {
        await wait(pause, signal);
      } catch {
        return { is: 'stopped' };
      }
    }
  }
}

/** What is there now may be the same snapshot, brought by somebody else or by an attempt whose answer was lost. */
function existing(id: SnapshotId, ours: string, theirs: string | null): Ending {
  return ours === theirs
    ? { is: 'equal' }
    : { is: 'failed', problem: differs(id, ours, theirs), isOfSnapshot: true };
}

function policyOf(error: unknown): RetryPolicy | null {
  if (isSnapshotError(error, 'publication_in_progress')) return TURN;
  const mayPass = isTransient(error) || error instanceof TimeoutError || error instanceof OutcomeUnknownError;
  return mayPass ? PATIENCE : null;
}

function failed(id: SnapshotId, side: SideName, error: unknown): Ending {
  const told = isAnySnapshotError(error) || error instanceof SnapshotClientError;
  const code = told ? error.code : 'failed';
  const detail = error instanceof Error ? error.message : String(error);
  const problem = { snapshot_id: id, side, code, detail };
  return { is: 'failed', problem, isOfSnapshot: OF_SNAPSHOT.has(code) };
}

interface Source extends ProvenManifest {
  /** A block is valid only until the next one is asked for. */
  readonly blocks: (key: ArrayKey, entry: ArrayEntry) => AsyncIterable<Uint8Array>;
}

/** One attempt. */
class Copy {
  readonly #from: OpenedStore;
  readonly #to: OpenedStore;
  readonly #id: SnapshotId;
  /** Payload bytes read so far. */
  bytes = 0;
  /** Of the snapshot at FROM, once it was read. */
  manifestSha256 = '';
  /** What failed at FROM: whoever publishes only hears that its source did. */
  failure: { readonly side: SideName; readonly cause: unknown } | null = null;

  constructor({ from, to }: Readonly<Record<SideName, OpenedStore>>, id: SnapshotId) {
    this.#from = from;
    this.#to = to;
    this.#id = id;
  }

  async run(onBytes: (bytes: number) => void): Promise<void> {
    const source = await this.#open();
    this.manifestSha256 = source.manifestSha256;
    const read = (key: ArrayKey, entry: ArrayEntry): AsyncGenerator<Uint8Array, void, void> =>
      this.#read(source.blocks(key, entry), onBytes);
    const stored =
      this.#to.kind === 'service'
        ? await publishAtService(this.#to.client, source, read)
        : await publishInStore(this.#to.store, source, read);
    if (stored !== source.manifestSha256) throw new Error(`TO stored the manifest ${stored} instead.`);
  }

  async #open(): Promise<Source> {
    try {
      return await openSource(this.#from, this.#id);
    } catch (cause) {
      this.failure = { side: 'from', cause };
      throw cause;
    }
  }

  async *#read(
    blocks: AsyncIterable<Uint8Array>,
    onBytes: (bytes: number) => void,
  ): AsyncGenerator<Uint8Array, void, void> {
    // Told apart from what its reader throws, which ends a generator without an error of its own.
    try {
      for await (const block of blocks) {
        this.bytes += block.length;
        onBytes(block.length);
        yield block;
      }
    } catch (cause) {
      this.failure = { side: 'from', cause };
      throw cause;
    }
  }
}

async function openSource(from: OpenedStore, id: SnapshotId): Promise<Source> {
  if (from.kind === 'service') {
    const { client } = from;
    return { ...(await client.manifest(id)), blocks: (key) => client.streamArray(id, key) };
  }
  const { files, ...proven } = await from.store.openPackage(id);
  const byName = new Map(files.map((file) => [file.name, file]));
  return {
    ...proven,
    blocks: (_, { file }) => {
      const found = byName.get(file);
      if (found === undefined) throw new Error('A proven package has every file of its manifest.');
      return found.blocks();
    },
  };
}

type Read = (key: ArrayKey, entry: ArrayEntry) => AsyncGenerator<Uint8Array, void, void>;

/** A manifest is a metadata document that declares every length and digest: what is built from it is the same bytes. */
async function publishInStore(
  store: Extract<OpenedStore, { kind: 'store' }>['store'],
  { manifest, manifestBytes }: Source,
  read: Read,
): Promise<string> {
  async function* payloads(): AsyncGenerator<IncomingPayload, void, void> {
    for (const [key, entry] of Object.entries(manifest.arrays)) {
      yield { name: key, chunks: read(key, entry) };
      await Promise.resolve();
    }
  }
  const draft = await store.readDraft(manifestBytes);
  return (await store.publishDraft(draft, payloads())).sha256;
}

/** Sent once: whether and when again is decided above, where the source can be opened anew. */
async function publishAtService(
  client: Extract<OpenedStore, { kind: 'service' }>['client'],
  { manifest }: Source,
  read: Read,
): Promise<string> {
  const arrays = Object.create(null) as Record<ArrayKey, BytesInput>;
  for (const [key, entry] of Object.entries(manifest.arrays)) {
    const { dtype, byte_length: length } = entry;
    arrays[key] = { dtype, byteLength: Number(length), data: copied(read(key, entry)) };
  }
  const { manifestSha256, confirmedAfter } = await client.publish(manifest, arrays, { retry: false });
  // It is there, and nobody knows whether a power cut would leave it there: no copy to count on.
  if (isSnapshotError(confirmedAfter, 'publication_uncertain')) throw confirmedAfter;
  return manifestSha256;
}

/** A connection may hold on to a block after it has asked for the next one. */
async function* copied(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for await (const block of blocks) yield Buffer.from(block);
}
