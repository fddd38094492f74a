/** The store on a disk, without HTTP: publish, open, list and inspect snapshots under one root (PW-07.02, PW-07.18). */
import type { Declarations } from '../contract/contexts.ts';
import { entryOf, type Comparison } from '../contract/comparison.ts';
import { isAnySnapshotError, isSnapshotError, SnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import { IN_FLIGHT, type IncompleteAttempt, type SnapshotSummary } from '../contract/listings.ts';
import { parseSnapshotMetadata, type DraftManifest } from '../contract/manifest.ts';
import type { OpenedSnapshot } from '../contract/opened.ts';
import {
  declaredArrays,
  DraftReader,
  payloadsOf,
  type ArrayInput,
  type IncomingPayload,
} from './arrivals.ts';
import { BlockPool } from './blocks.ts';
import { compareSnapshots, type CompareOptions, type ComparedSide } from './comparison.ts';
import { DirectorySyncs } from './directory-syncs.ts';
import { Engine, inlineExecutor, type Executor, type OpenedPayload, type ThreadCounts } from './engine.ts';
import { timedFileSystem, type FileSystem, type FreeRoom } from './file-system.ts';
import { IdLocks } from './id-locks.ts';
import {
  collectAttempts,
  lookAtAttempts,
  RefusalReasons,
  StagingMeter,
  type AttemptLook,
  type IncompleteListing,
  type IncompleteQuery,
  type StagingMeasure,
} from './inspection.ts';
import { errnoOf, saysExhausted, saysForbidden, unavailableNow } from './io.ts';
import { layoutOf, snapshotDirectory, type Layout } from './layout.ts';
import {
  collectListing,
  entriesOf,
  failureOf,
  FinishedTimes,
  lookAtSnapshots,
  type ListedManifest,
  type ListedSnapshot,
  type ListingQuery,
  type ListingSource,
  type Look,
  type ProvenQuery,
  type SnapshotListing,
} from './listing.ts';
import { nodeFileSystem } from './node-file-system.ts';
import type { PayloadProof } from './payload-proof.ts';
import { FILE_STAMPS, ProofMemory } from './proof-memory.ts';
import { Proofs } from './proofs.ts';
import { publishSnapshot } from './publication.ts';
import {
  openProvenArray,
  packageFiles,
  parseProven,
  readArrays,
  StoredPayload,
  type PayloadSource,
  type ReadManifest,
} from './reading.ts';
import { prepareRoot, StoreIdentity, type StoreRooms } from './root.ts';
import type {
  PackageFiles,
  PublicationOptions,
  Published,
  ReadOptions,
  SnapshotStore,
} from './snapshot-store.ts';
import { SpaceReserve } from './space-reserve.ts';
import { DEFAULT_CACHE_BYTES, DEFAULT_MAX_AGE_MS, threadsOf, type StoreOptions } from './store-options.ts';
import { forOnePublication, syncsAtOnce, withSyncTurns } from './sync-turns.ts';
import { workerPool } from './worker-pool.ts';

/** Manifests of one listing in memory at once. */
const MAX_WIDTH = 8;
/** The coarsest clock of a file system in use. */
const UNSETTLED_NS = 2_000_000_000n;

/** For how long a store whose directories may not be changed says so, unless a publication shows that they may again. */
const FORBIDDEN_HOLDS_MS = 60_000;

export class LocalSnapshotStore implements SnapshotStore {
  readonly declarations: Declarations;
  readonly #layout: Layout;
  readonly #identity: StoreIdentity;
  readonly #fs: FileSystem;
  readonly #executor: Executor;
  readonly #near: Executor;
  readonly #proofs: Proofs;
  readonly #options: StoreOptions;
  readonly #blocks = new BlockPool();
  readonly #locks = new IdLocks();
  readonly #directorySyncs: DirectorySyncs;
  readonly #space: SpaceReserve;
  readonly #drafts: DraftReader;
  readonly #memory: ProofMemory<PayloadProof> | null;
  readonly #meter: StagingMeter;
  readonly #listingSource: ListingSource;
  readonly #reasons = new RefusalReasons();
  /** Attempts that publications of this process are at work on, by their location. */
  readonly #inFlight = new Set<string>();
  #counted: { readonly ctimeNs: bigint | null; readonly count: number } | null = null;
  #prepared: Promise<void> | null = null;
  #forbidden: { readonly problem: string; readonly until: number } | null = null;

  constructor(root: string, options: StoreOptions) {
    this.#layout = layoutOf(root);
    this.#options = options;
    this.declarations = options.declarations;
    const { fileSystem, observer = {}, verify = 'always', cacheBytes = DEFAULT_CACHE_BYTES } = options;
    const fs = fileSystem ?? nodeFileSystem;
    const timed = observer.syncTook === undefined ? fs : timedFileSystem(fs, observer.syncTook);
    // Another file system than the machine's has its own way to be slow.
    this.#fs =
      fileSystem === undefined ? withSyncTurns(timed, syncsAtOnce(process.env['UV_THREADPOOL_SIZE'])) : timed;
    this.#identity = new StoreIdentity(this.#fs, this.#layout, options.rooms);
    // One budget: what is remembered of manifests, by the calling thread and by all others, and of proofs.
    const shares = verify === 'once' ? 2 : 1;
    this.#memory =
      verify === 'once'
        ? new ProofMemory<PayloadProof>(
            FILE_STAMPS,
            options.verifyMaxAgeMs ?? DEFAULT_MAX_AGE_MS,
            cacheBytes / shares,
          )
        : null;
    const threads = fileSystem === undefined ? threadsOf(options) : 0;
    const manifestBytes = cacheBytes / shares;
    const nearBytes = manifestBytes / (threads + 1);
    this.#near = inlineExecutor(new Engine(this.#fs, options.declarations, nearBytes));
    this.#executor =
      threads === 0
        ? this.#near
        : workerPool(options.declarations, {
            threads,
            manifestBytes: manifestBytes - nearBytes,
            onLost: observer.threadLost,
          });
    this.#proofs = new Proofs(this.#executor);
    const { staging, snapshots } = this.#layout;
    this.#meter = new StagingMeter(
      () => this.#names(staging),
      (attempts) => this.#executor.run('measure', { staging, attempts }),
    );
    const times = new FinishedTimes((id) => this.#proveFrame(id));
    this.#listingSource = {
      names: { areOrdered: false, from: () => this.#names(snapshots) },
      prove: (id, proof, signal) =>
        proof === 'frame' ? this.#proveFrame(id) : this.readManifest(id, { signal }),
      finishedAt: (id, signal) => times.of(id, signal),
      width: Math.min(this.#executor.parallelism * 2, MAX_WIDTH),
    };
    this.#directorySyncs = new DirectorySyncs(this.#fs);
    this.#drafts = new DraftReader(options.limits?.arrays, (bytes, maxValues) =>
      this.#executor.run('draft', { bytes, maxValues }),
    );
    this.#space = new SpaceReserve(this.#fs, root, options.reserveBytes ?? 0, options.peers);
  }

  /** Makes the root usable; every publication does so first. Throws `UnusableRootError`. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }

  async #prepare(): Promise<void> {
    // What this store has read from before is not made anew where it is missing.
    if (this.#identity.isKnown) this.#identity.check();
    await prepareRoot(this.#fs, this.#layout, this.#options.mountTable);
    this.#identity.check();
  }

  /**
   * Publishes typed arrays, or byte streams with a declared dtype, as one immutable snapshot; the caller's arrays are
   * copied as they are written. Throws `ContractViolationError` and the other refusals of `SnapshotError`.
   */
  async publish(metadata: unknown, arrays: Readonly<Record<ArrayKey, ArrayInput>>): Promise<Published> {
    const snapshot = parseSnapshotMetadata(metadata);
    return this.publishDraft({ snapshot, arrays: declaredArrays(arrays) }, payloadsOf(arrays));
  }

  /** Reads the metadata document of a publication. Throws `malformed_json` or `ContractViolationError`. */
  readDraft(bytes: Uint8Array): Promise<DraftManifest> {
    return this.#drafts.read(bytes);
  }

  /**
   * Publishes payloads as they arrive, in any order; resolves once the snapshot is durable (PW-07.04). When `signal` says
   * that nobody waits any more, it ends before its rename, at the next piece of its work; its attempt stays.
   */
  async publishDraft(
    draft: DraftManifest,
    payloads: AsyncIterable<IncomingPayload>,
    options: PublicationOptions = {},
  ): Promise<Published> {
    await this.prepare();
    const context = {
      fs: this.#options.fileSystem === undefined ? forOnePublication(this.#fs) : this.#fs,
      layout: this.#layout,
      identity: this.#identity,
      declarations: this.declarations,
      executor: this.#executor,
      near: this.#near,
      proofs: this.#proofs,
      blocks: this.#blocks,
      directorySyncs: this.#directorySyncs,
      limits: this.#options.limits ?? {},
      space: this.#space,
      inFlight: this.#inFlight,
    };
    try {
      const published = await this.#locks.during(draft.snapshot.snapshot_id, () =>
        publishSnapshot(context, draft, payloads, options),
      );
      this.#forbidden = null;
      return published;
    } catch (error) {
      this.#noteForbidden(error);
      this.#reasons.keep(error);
      throw error;
    }
  }

  /**
   * Proves every byte of a snapshot and gives its manifest. Throws `SnapshotNotFoundError`, `StorageIntegrityError`, or the
   * signal's reason, at the next piece of the work, once it was given.
   */
  async readManifest(id: SnapshotId, { signal }: ReadOptions = {}): Promise<ReadManifest> {
    return this.#prove(id, { withMacs: false, signal });
  }

  async #prove(
    id: SnapshotId,
    { withMacs, signal }: { withMacs: boolean; signal: AbortSignal | undefined },
  ): Promise<ReadManifest> {
    const startedAt = this.#memory?.now();
    const known = this.#memory?.known(id) ?? {};
    const directory = snapshotDirectory(this.#layout, id);
    const request = {
      directory,
      snapshotId: id,
      stage: 'complete',
      payloads: 'all',
      known,
      withMacs,
    } as const;
    const proof = await this.#identity.reading(() => this.#proofs.provePackage(request, signal));
    if (startedAt !== undefined) this.#memory?.remember(id, known, proof.proofs, startedAt);
    return { ...proof, manifest: parseProven(proof.manifestBytes) };
  }

  /**
   * Proves a snapshot's frame and one array, and gives that array for reading; the caller must `close` it once its last byte
   * has left. With `deliver: false` only its description is wanted and nothing stays open. Throws what `readManifest` does
   * and `array_not_found`.
   */
  async openArray(
    id: SnapshotId,
    key: ArrayKey,
    { deliver = true, signal }: ReadOptions & { readonly deliver?: boolean } = {},
  ): Promise<StoredPayload> {
    const startedAt = this.#memory?.now();
    const known = this.#memory?.known(id) ?? {};
    const request = {
      directory: snapshotDirectory(this.#layout, id),
      snapshotId: id,
      key,
      deliver,
      known,
      withMacs: deliver && this.#memory === null,
    };
    const close = async ({ descriptor }: OpenedPayload): Promise<void> => {
      if (descriptor !== null) await this.#fs.close(descriptor);
    };
    const opened = await this.#identity.reading(() => this.#proofs.openArray(request, close, signal));
    const { manifestBytes, manifestSha256, claim, bytes, descriptor, proof } = opened;
    if (startedAt !== undefined) this.#memory?.remember(id, known, { [claim.file]: proof }, startedAt);
    const entry = parseProven(manifestBytes).arrays[key];
    if (entry === undefined) throw new Error('A proven array has its entry.');
    const source: PayloadSource = bytes === null ? { bytes, descriptor, proof } : { bytes, descriptor: null };
    return new StoredPayload(this.#reading, { snapshotId: id, key, entry, manifestSha256 }, source);
  }

  /** Proves every byte of a snapshot once and gives its files for mirroring. */
  async openPackage(id: SnapshotId, { signal }: ReadOptions = {}): Promise<PackageFiles> {
    const proven = await this.#prove(id, { withMacs: this.#memory === null, signal });
    return packageFiles(this.#reading, snapshotDirectory(this.#layout, id), id, proven);
  }

  /**
   * How `to` differs from `from`: metadata, coverage, arrays by position or, with a `key`, by row. Every byte of both is
   * proven first. Throws what `readManifest` does and what `compareSnapshots` says of the key.
   */
  compareSnapshots(from: SnapshotId, to: SnapshotId, options?: CompareOptions): Promise<Comparison> {
    return compareSnapshots(this.side(from), this.side(to), options);
  }

  /** A snapshot of this store as one side of a comparison, the other side of which may be elsewhere. */
  side(id: SnapshotId): ComparedSide {
    return {
      executor: this.#executor,
      prove: async (signal) => {
        const proven = await this.#prove(id, { withMacs: this.#memory === null, signal });
        const { manifest, manifestSha256 } = proven;
        return {
          manifest,
          open: async (key, ended) => {
            const entry = entryOf(manifest, key);
            if (entry === null) throw new Error('Only arrays of the manifest are compared.');
            const about = { snapshotId: id, key, entry, manifestSha256 };
            return openProvenArray(this.#reading, snapshotDirectory(this.#layout, id), about, proven, ended);
          },
        };
      },
    };
  }

  /** Metadata and read-only, owned arrays; changing them cannot change what is stored (PW-07.05). */
  async open(id: SnapshotId, { signal }: ReadOptions = {}): Promise<OpenedSnapshot> {
    const directory = snapshotDirectory(this.#layout, id);
    // The arrays are proven by the very bytes that are handed out, so here only the rest of the package is.
    const request = { directory, snapshotId: id, stage: 'complete', payloads: 'none' } as const;
    const { manifestBytes, manifestSha256, hasIntent, manifest, arrays } = await this.#identity.reading(
      async () => {
        const frame = await this.#proofs.provePackage(request, signal);
        const read = parseProven(frame.manifestBytes);
        return {
          ...frame,
          manifest: read,
          arrays: await readArrays(this.#executor, directory, id, read, signal),
        };
      },
    );
    return { metadata: manifest.snapshot, manifest, manifestBytes, manifestSha256, hasIntent, arrays };
  }

  /**
   * Proves and lists what is published, in order: a page, or without a `limit` everything. What cannot be proven fails the
   * listing by name, or is listed as damaged where the query asks for that (PW-07.18).
   */
  listSnapshots(query?: ProvenQuery, options?: ReadOptions): Promise<SnapshotListing<SnapshotSummary>>;
  listSnapshots(query: ListingQuery, options?: ReadOptions): Promise<SnapshotListing>;
  async listSnapshots(query: ListingQuery = {}, { signal }: ReadOptions = {}): Promise<SnapshotListing> {
    return collectListing(this.lookAtSnapshots(query, { signal }), query);
  }

  /** The same one by one, as they are taken; never more than a few are in memory. */
  streamSnapshots(
    query: ListingQuery = {},
    { signal }: ReadOptions = {},
  ): AsyncGenerator<ListedSnapshot, void, void> {
    return entriesOf(this.lookAtSnapshots(query, { signal }));
  }

  /** The same with what is passed over and what is wrong, for whoever decides about both. */
  lookAtSnapshots(query: ListingQuery = {}, { signal }: ReadOptions = {}): AsyncGenerator<Look, void, void> {
    return lookAtSnapshots(this.#listingSource, query, signal);
  }

  readonly listingFailure = failureOf;

  /** What lies in staging, judged without changing anything; advisory while publications run (PW-07.04). */
  async inspectIncomplete(
    query: IncompleteQuery = {},
    { signal }: ReadOptions = {},
  ): Promise<IncompleteListing> {
    return collectAttempts(this.lookAtIncomplete(query, { signal }), query);
  }

  /** The same one by one, as they are taken. */
  lookAtIncomplete(
    query: IncompleteQuery = {},
    { signal }: ReadOptions = {},
  ): AsyncGenerator<AttemptLook, void, void> {
    const { staging } = this.#layout;
    const source = {
      names: { areOrdered: false, from: () => this.#names(staging) },
      inspect: async (name: string, ended: AbortSignal) =>
        this.#withFate(await this.#executor.run('inspect', { staging, name }, ended)),
      width: this.#executor.parallelism * 2,
    };
    return lookAtAttempts(source, query, signal);
  }

  /** Entries in `snapshots/`, unproven, and when the last of them came: null where there are none. */
  async published(): Promise<{ readonly count: number; readonly lastNs: bigint | null }> {
    const { snapshots } = this.#layout;
    if (!this.#identity.checkSnapshots()) return { count: 0, lastNs: null };
    const { ctimeNs, mtimeNs } = this.#fs.statEntry(snapshots);
    if (this.#counted?.ctimeNs !== ctimeNs) {
      let count = 0;
      for await (const names of this.#names(snapshots)) count += names.length;
      // One that came within a tick of the file system's clock leaves its time as it is.
      const isSettled = ctimeNs < BigInt(Date.now()) * 1_000_000n - UNSETTLED_NS;
      this.#counted = { ctimeNs: isSettled ? ctimeNs : null, count };
    }
    const { count } = this.#counted;
    return { count, lastNs: count === 0 ? null : mtimeNs };
  }

  /** Number and bytes of what lies in staging, from names and sizes alone. */
  async measureIncomplete(): Promise<StagingMeasure> {
    return this.#meter.measure();
  }

  /** Why reads would fail now, as a sentence, or null when they would not. */
  readProblem(): Promise<string | null> {
    return Promise.resolve().then(() => this.#readProblem());
  }

  #readProblem(): string | null {
    try {
      this.#identity.check();
      // Every read and publication opens files: whoever cannot is not ready.
      if (this.#prepared !== null) this.#fs.closeSync(this.#fs.openForReading(this.#layout.snapshots));
    } catch (error) {
      if (isAnySnapshotError(error)) return error.message;
      if (saysExhausted(error)) return unavailableNow(error).message;
      if (errnoOf(error) !== undefined) return `The root cannot be read (${errnoOf(error) ?? ''}).`;
      throw error;
    }
    const { running, wanted } = this.threads;
    return wanted > 0 && running === 0
      ? 'None of the threads that prove and store payloads is running; the log says why they die.'
      : null;
  }

  /** Why publications would fail now, as a sentence, or null when they would not. Writes nothing. */
  async writeProblem(): Promise<string | null> {
    const problem = this.#readProblem();
    if (problem !== null) return problem;
    try {
      await this.#fs.checkWritable(this.#layout.staging);
      await this.#fs.checkWritable(this.#layout.snapshots);
      await this.#space.check({ bytes: 0n, files: 0 });
      if (this.#forbidden === null || this.#forbidden.until < performance.now()) return null;
      return this.#forbidden.problem;
    } catch (error) {
      if (isAnySnapshotError(error)) return error.message;
      return `The root cannot be written (${errnoOf(error) ?? 'unexpected error'}).`;
    }
  }

  /** The store's directories as they were found at the start. */
  get rooms(): StoreRooms {
    return this.#identity.rooms;
  }

  /** The threads that write and prove, and how many have died so far. */
  get threads(): ThreadCounts {
    return this.#executor.threads;
  }

  /** Throws `insufficient_storage` where so many bytes cannot be taken, beside all that is under way. */
  async checkRoom(bytes: number): Promise<void> {
    await this.#space.check({ bytes: BigInt(bytes), files: 0 });
  }

  /** What is free for this process on the file system of the root, and its size. */
  freeRoom(): Promise<FreeRoom> {
    return this.#fs.freeRoom(this.#layout.root);
  }

  /** Stops the proving threads; running reads and publications fail. */
  close(): Promise<void> {
    return this.#executor.close();
  }

  get #reading(): { fs: FileSystem; executor: Executor; blocks: BlockPool } {
    return { fs: this.#fs, executor: this.#executor, blocks: this.#blocks };
  }

  /** An attempt as the disk shows it, and what only this process knows of it. */
  #withFate(attempt: IncompleteAttempt | null): IncompleteAttempt | null {
    if (attempt === null || !this.#inFlight.has(attempt.path)) return this.#reasons.addTo(attempt);
    return { ...attempt, diagnostic: `${attempt.diagnostic} ${IN_FLIGHT}` };
  }

  /** That a directory may be written is not all: one that only takes new names (append-only) lets nothing be renamed. */
  #noteForbidden(error: unknown): void {
    if (!isSnapshotError(error, 'unavailable') || !saysForbidden(error.cause)) return;
    this.#forbidden = { problem: error.message, until: performance.now() + FORBIDDEN_HOLDS_MS };
  }

  /** Names in a room, in pieces; nothing where no such room was ever made under this root. */
  async *#names(directory: string): AsyncGenerator<readonly string[], void, void> {
    const { snapshots } = this.#layout;
    const isThere = (): boolean => {
      // Also for staging: beside other snapshots than those of the start, what is left of attempts says nothing.
      const snapshotsAreThere = this.#identity.checkSnapshots();
      return directory === snapshots ? snapshotsAreThere : this.#identity.checkStaging();
    };
    if (!isThere()) return;
    try {
      yield* this.#fs.listNames(directory);
    } catch (error) {
      isThere();
      if (saysExhausted(error)) throw unavailableNow(error);
      throw new SnapshotError(
        'internal_error',
        `The store's directory cannot be listed (${errnoOf(error) ?? 'unexpected error'}).`,
        {},
        { cause: error },
      );
    }
    // What was listed of another directory says nothing of this one.
    isThere();
  }

  /**
   * Marker, manifest, inventory and lengths, not the checksums of arrays. Too short to be worth a listener for its end: of a
   * hundred thousand on the signal of one listing, each keeps what came after it from being collected.
   */
  async #proveFrame(id: SnapshotId): Promise<ListedManifest> {
    const directory = snapshotDirectory(this.#layout, id);
    const request = { directory, snapshotId: id, stage: 'complete', payloads: 'none' } as const;
    const { manifestBytes, manifestSha256 } = await this.#identity.reading(() =>
      this.#proofs.provePackage(request),
    );
    return { manifestSha256, manifest: parseProven(manifestBytes) };
  }
}
