/** The store on an S3 engine (CONTRACT section 6): what `LocalSnapshotStore` is on a disk. */
import type { Declarations } from '../contract/contexts.ts';
import type { Comparison } from '../contract/comparison.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { SnapshotSummary } from '../contract/listings.ts';
import { parseSnapshotMetadata, type DraftManifest, type Manifest } from '../contract/manifest.ts';
import type { OpenedSnapshot, ProvenManifest } from '../contract/opened.ts';
import {
  declaredArrays,
  DraftReader,
  payloadsOf,
  type ArrayInput,
  type IncomingPayload,
} from '../store/arrivals.ts';
import { ByteBoundedCache } from '../store/byte-bounded-cache.ts';
import { compareSnapshots, type ComparedSide, type CompareOptions } from '../store/comparison.ts';
import { Engine, inlineExecutor, type Executor, type ThreadCounts } from '../store/engine.ts';
import { IdLocks } from '../store/id-locks.ts';
import {
  collectAttempts,
  lookAtAttempts,
  RefusalReasons,
  type AttemptLook,
  type IncompleteListing,
  type IncompleteQuery,
  type StagingSource,
} from '../store/inspection.ts';
import {
  collectListing,
  entriesOf,
  failureOf,
  FinishedTimes,
  lookAtSnapshots,
  type ListedSnapshot,
  type ListingQuery,
  type ListingSource,
  type Look,
  type ProvenQuery,
  type SnapshotListing,
} from '../store/listing.ts';
import { nodeFileSystem } from '../store/node-file-system.ts';
import { ProofMemory } from '../store/proof-memory.ts';
import { UnusableRootError } from '../store/root.ts';
import type {
  PackageFiles,
  PublicationOptions,
  Published,
  ReadOptions,
  SnapshotStore,
  StoredArray,
} from '../store/snapshot-store.ts';
import {
  DEFAULT_CACHE_BYTES,
  DEFAULT_MAX_AGE_MS,
  threadsOf,
  type StoreOptions,
} from '../store/store-options.ts';
import { workerPool } from '../store/worker-pool.ts';
import { attemptsSource } from './inspection.ts';
import { bucketOf, COMMITS, CONDITION_OBJECT } from './layout.ts';
import { engineSays, UnknownWrite } from './engine-errors.ts';
import { openObjects, type EngineAnswer, type Objects } from './objects.ts';
import { PartBudget } from './payload-upload.ts';
import { publishToEngine } from './publication.ts';
import { OBJECT_STAMPS, Packages, type ObjectProof } from './reading.ts';

export interface S3StoreOptions extends Omit<StoreOptions, 'fileSystem' | 'reserveBytes' | 'mountTable'> {
  /** No call waits longer than this for the engine, in milliseconds; one minute by default. */
  readonly idleMs?: number;
  /** Nothing is published through this store, so nothing is written to find out whether it could be. */
  readonly readOnly?: boolean;
  /** Where endpoint, region and the like are read; the process's own by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Told of every answer of the engine. */
  readonly engineAnswered?: (answer: EngineAnswer) => void;
}

const DEFAULT_IDLE_MS = 60_000;
/** Manifests of one listing in memory at once. */
const LISTING_WIDTH = 8;
/** For how long the count of snapshots, and what a probe was told, are told again. */
const COUNT_HOLDS_MS = 60_000;
const PROBE_HOLDS_MS = 1_000;

const CONDITION_TEXT = Buffer.from(
  'Whether this engine keeps If-None-Match is found out by writing this object a second time, which must be refused.\n',
);

export class S3SnapshotStore implements SnapshotStore {
  readonly declarations: Declarations;
  readonly #root: string;
  readonly #options: S3StoreOptions;
  readonly #objects: Objects;
  readonly #packages: Packages;
  readonly #executor: Executor;
  readonly #drafts: DraftReader;
  readonly #locks = new IdLocks();
  readonly #budget = new PartBudget();
  readonly #reasons = new RefusalReasons();
  readonly #listingSource: ListingSource;
  readonly #attemptsSource: StagingSource;
  readonly #counted = new Held<{ readonly count: number; readonly lastNs: bigint | null }>(COUNT_HOLDS_MS);
  readonly #canRead = new Held<string | null>(PROBE_HOLDS_MS);
  readonly #canWrite = new Held<string | null>(PROBE_HOLDS_MS);
  #prepared: Promise<void> | null = null;

  /** Loads the client and connects to nothing yet. Throws `UnusableRootError` for what is no root on an engine. */
  static async open(root: string, options: S3StoreOptions): Promise<S3SnapshotStore> {
    const { idleMs = DEFAULT_IDLE_MS, environment = process.env, engineAnswered: observe } = options;
    return new S3SnapshotStore(
      root,
      options,
      await openObjects(bucketOf(root), { idleMs, observe }, environment),
    );
  }

  private constructor(root: string, options: S3StoreOptions, objects: Objects) {
    this.#root = root;
    this.#options = options;
    this.#objects = objects;
    this.declarations = options.declarations;
    const { verify = 'always', cacheBytes = DEFAULT_CACHE_BYTES, declarations } = options;
    const share = verify === 'once' ? cacheBytes / 2 : cacheBytes;
    const memory =
      verify === 'once'
        ? new ProofMemory<ObjectProof>(OBJECT_STAMPS, options.verifyMaxAgeMs ?? DEFAULT_MAX_AGE_MS, share)
        : null;
    const judging = { declarations, judged: new ByteBoundedCache<string, Manifest>(share) };
    this.#packages = new Packages({ objects, judging, memory });
    const threads = threadsOf(options);
    // What is read and compared there needs neither a disk nor memory for manifests.
    this.#executor =
      threads === 0
        ? inlineExecutor(new Engine(nodeFileSystem, declarations, 0))
        : workerPool(declarations, {
            threads,
            manifestBytes: 0,
            onLost: options.observer?.threadLost,
          });
    this.#drafts = new DraftReader(options.limits?.arrays, (bytes, maxValues) =>
      this.#executor.run('draft', { bytes, maxValues }),
    );
    const times = new FinishedTimes((id, signal) => this.#packages.proveFrame(id, signal));
    this.#listingSource = {
      names: { areOrdered: true, from: (after) => this.#commits(after) },
      prove: (id, proof, signal) =>
        proof === 'frame'
          ? this.#packages.proveFrame(id, signal)
          : this.#packages.provePackage(id, { signal }),
      finishedAt: (id, signal) => times.of(id, signal),
      width: LISTING_WIDTH,
    };
    this.#attemptsSource = attemptsSource(objects, this.#packages);
  }

  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }

  /** That the bucket can be read and written, and that its engine keeps `If-None-Match`: without it there is no commit. */
  async #prepare(): Promise<void> {
    try {
      await this.#objects.reach(COMMITS);
      if (this.#options.readOnly === true) return;
      const first = await this.#objects.put(CONDITION_OBJECT, CONDITION_TEXT);
      if (first === 'exists' || (await this.#objects.put(CONDITION_OBJECT, CONDITION_TEXT)) === 'exists')
        return;
    } catch (error) {
      const cause = error instanceof UnknownWrite ? error.cause : error;
      throw new UnusableRootError(`${this.#root} cannot be used (${engineSays(cause)})`, { cause });
    }
    throw new UnusableRootError(
      `${this.#root} cannot be used: its engine ignores If-None-Match, so that one snapshot could overwrite another; use an ` +
        'engine with conditional writes',
    );
  }

  async publish(metadata: unknown, arrays: Readonly<Record<ArrayKey, ArrayInput>>): Promise<Published> {
    const snapshot = parseSnapshotMetadata(metadata);
    return this.publishDraft({ snapshot, arrays: declaredArrays(arrays) }, payloadsOf(arrays));
  }

  readDraft(bytes: Uint8Array): Promise<DraftManifest> {
    return this.#drafts.read(bytes);
  }

  async publishDraft(
    draft: DraftManifest,
    payloads: AsyncIterable<IncomingPayload>,
    options: PublicationOptions = {},
  ): Promise<Published> {
    await this.prepare();
    const context = {
      objects: this.#objects,
      packages: this.#packages,
      budget: this.#budget,
      declarations: this.declarations,
      limits: this.#options.limits ?? {},
    };
    try {
      return await this.#locks.during(draft.snapshot.snapshot_id, () =>
        publishToEngine(context, draft, payloads, options),
      );
    } catch (error) {
      this.#reasons.keep(error);
      throw error;
    }
  }

  /** Only the engine knows, and says so when it is full. */
  checkRoom(): Promise<void> {
    return Promise.resolve();
  }

  async readManifest(id: SnapshotId, { signal }: ReadOptions = {}): Promise<ProvenManifest> {
    return provenOf(await this.#packages.provePackage(id, { signal }));
  }

  openArray(
    id: SnapshotId,
    key: ArrayKey,
    options: ReadOptions & { readonly deliver?: boolean } = {},
  ): Promise<StoredArray> {
    return this.#packages.openArray(id, key, options);
  }

  async openPackage(id: SnapshotId, { signal }: ReadOptions = {}): Promise<PackageFiles> {
    return this.#packages.filesOf(await this.#packages.provePackage(id, { withMacs: true, signal }));
  }

  async open(id: SnapshotId, { signal }: ReadOptions = {}): Promise<OpenedSnapshot> {
    const frame = await this.#packages.proveFrame(id, signal);
    const arrays = await this.#packages.readArrays(frame, signal);
    return { ...provenOf(frame), metadata: frame.manifest.snapshot, arrays };
  }

  compareSnapshots(from: SnapshotId, to: SnapshotId, options?: CompareOptions): Promise<Comparison> {
    return compareSnapshots(this.side(from), this.side(to), options);
  }

  /** A snapshot of this store as one side of a comparison, the other side of which may be elsewhere. */
  side(id: SnapshotId): ComparedSide {
    return {
      executor: this.#executor,
      prove: async (signal) => {
        const proven = await this.#packages.provePackage(id, { withMacs: true, signal });
        return {
          manifest: proven.manifest,
          open: (key, ended) => this.#packages.openProven(proven, key, proven.proofs, ended),
        };
      },
    };
  }

  listSnapshots(query?: ProvenQuery, options?: ReadOptions): Promise<SnapshotListing<SnapshotSummary>>;
  listSnapshots(query: ListingQuery, options?: ReadOptions): Promise<SnapshotListing>;
  async listSnapshots(query: ListingQuery = {}, { signal }: ReadOptions = {}): Promise<SnapshotListing> {
    return collectListing(this.lookAtSnapshots(query, { signal }), query);
  }

  streamSnapshots(
    query: ListingQuery = {},
    { signal }: ReadOptions = {},
  ): AsyncGenerator<ListedSnapshot, void, void> {
    return entriesOf(this.lookAtSnapshots(query, { signal }));
  }

  lookAtSnapshots(query: ListingQuery = {}, { signal }: ReadOptions = {}): AsyncGenerator<Look, void, void> {
    return lookAtSnapshots(this.#listingSource, query, signal);
  }

  readonly listingFailure = failureOf;

  async inspectIncomplete(
    query: IncompleteQuery = {},
    { signal }: ReadOptions = {},
  ): Promise<IncompleteListing> {
    return collectAttempts(this.lookAtIncomplete(query, { signal }), query);
  }

  lookAtIncomplete(
    query: IncompleteQuery = {},
    { signal }: ReadOptions = {},
  ): AsyncGenerator<AttemptLook, void, void> {
    const source = this.#attemptsSource;
    const inspect: StagingSource['inspect'] = async (name, ended) =>
      this.#reasons.addTo(await source.inspect(name, ended));
    return lookAtAttempts({ ...source, inspect }, query, signal);
  }

  /** As they were listed within the last minute: an engine is asked for every thousand of them. */
  published(): Promise<{ readonly count: number; readonly lastNs: bigint | null }> {
    return this.#counted.get(async () => {
      let count = 0;
      let last: number | null = null;
      for await (const { objects, deeper } of this.#objects.list(COMMITS, { deep: false })) {
        count += objects.length + deeper.length;
        for (const { modifiedMs } of objects)
          if (modifiedMs !== null && modifiedMs > (last ?? 0)) last = modifiedMs;
      }
      return { count, lastNs: last === null ? null : BigInt(last) * 1_000_000n };
    });
  }

  measureIncomplete(): Promise<null> {
    return Promise.resolve(null);
  }

  freeRoom(): Promise<null> {
    return Promise.resolve(null);
  }

  readProblem(): Promise<string | null> {
    return this.#canRead.get(() => this.#problem(() => this.#objects.reach(COMMITS)));
  }

  /** A conditional write that is refused shows the right to write, and writes nothing. */
  writeProblem(): Promise<string | null> {
    return this.#canWrite.get(() =>
      this.#problem(async () => {
        await this.prepare();
        await this.#objects.put(CONDITION_OBJECT, CONDITION_TEXT);
      }),
    );
  }

  async #problem(ask: () => Promise<void>): Promise<string | null> {
    const { running, wanted } = this.threads;
    if (wanted > 0 && running === 0) {
      return 'None of the threads that read and compare is running; the log says why they die.';
    }
    try {
      await ask();
      return null;
    } catch (error) {
      const cause = error instanceof UnknownWrite ? error.cause : error;
      if (isAnySnapshotError(cause) || cause instanceof UnusableRootError) return cause.message;
      throw cause;
    }
  }

  get threads(): ThreadCounts {
    return this.#executor.threads;
  }

  async close(): Promise<void> {
    this.#objects.close();
    await this.#executor.close();
  }

  /** Names of commits, each character one byte, in the engine's own order. */
  async *#commits(after: string | undefined): AsyncGenerator<readonly string[], void, void> {
    for await (const { objects, deeper } of this.#objects.list(COMMITS, { after, deep: false })) {
      const names = [...objects.map(({ name }) => name), ...deeper];
      yield names
        .map((name) => Buffer.from(name, 'utf8').toString('latin1'))
        .sort()
        .filter((name) => after === undefined || name > after);
    }
  }
}

function provenOf({ manifest, manifestBytes, manifestSha256, hasIntent }: ProvenManifest): ProvenManifest {
  return { manifest, manifestBytes, manifestSha256, hasIntent };
}

/** What was found out a moment ago; whoever asks meanwhile waits for the same answer. */
class Held<T> {
  readonly #holdsMs: number;
  #answer: Promise<T> | null = null;
  #until = 0;

  constructor(holdsMs: number) {
    this.#holdsMs = holdsMs;
  }

  get(ask: () => Promise<T>): Promise<T> {
    if (this.#answer !== null && performance.now() < this.#until) return this.#answer;
    const answer = ask();
    this.#answer = answer;
    this.#until = Infinity;
    const ended = (holdsMs: number) => (): void => {
      this.#until = performance.now() + holdsMs;
    };
    answer.then(ended(this.#holdsMs), ended(0));
    return answer;
  }
}
