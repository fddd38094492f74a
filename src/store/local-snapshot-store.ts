/** The store without HTTP: publish, open, list and inspect snapshots under one root (PW-07.02, PW-07.18). */
import type { Declarations } from '../contract/contexts.ts';
import type { ReadonlyIntegerArray } from '../contract/dtypes.ts';
import { isAnySnapshotError, SnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import { parseSnapshotMetadata, type DraftManifest } from '../contract/manifest.ts';
import type { OpenedSnapshot } from '../contract/opened.ts';
import { BlockPool } from './block-pool.ts';
import { DirectorySyncs } from './directory-syncs.ts';
import { DraftReader } from './draft-reading.ts';
import type { FileSystem } from './file-system.ts';
import { IdLocks } from './id-locks.ts';
import type { IncomingPayload } from './incoming-payloads.ts';
import { inspectIncomplete, type IncompleteListing, type IncompleteQuery } from './inspection.ts';
import { errnoOf, saysExhausted, unavailableNow } from './io-errors.ts';
import { layoutOf, snapshotDirectory, type Layout } from './layout.ts';
import { listSnapshots, type ListedManifest, type ListingQuery, type SnapshotListing } from './listing.ts';
import { declaredArrays, payloadsOf, type ArrayInput } from './library-arrays.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { assembleArray } from './opened-arrays.ts';
import { parseProven } from './opened-snapshot.ts';
import { packageFiles, type PackageFiles } from './package-files.ts';
import type { KnownProofs } from './verification-request.ts';
import { ProofMemory } from './proof-memory.ts';
import { publishSnapshot, type Published } from './publication.ts';
import { inlineProver, type Prover } from './prover.ts';
import { prepareRoot, StoreIdentity } from './root.ts';
import type { StagingMeasure } from './staging-measure.ts';
import { SpaceReserve } from './space-reserve.ts';
import type { StoreOptions } from './store-options.ts';
import { StoredPayload } from './stored-payload.ts';

export interface ReadOptions {
  /** Ends the work when nobody waits for it any more; the read then rejects with its reason. */
  readonly signal?: AbortSignal;
}

const DEFAULT_MAX_AGE_MS = 60 * 60 * 1000;

export class LocalSnapshotStore {
  readonly declarations: Declarations;
  readonly #layout: Layout;
  readonly #identity: StoreIdentity;
  readonly #fs: FileSystem;
  readonly #prover: Prover;
  readonly #nearProver: Prover;
  readonly #options: StoreOptions;
  readonly #blocks = new BlockPool();
  readonly #locks = new IdLocks();
  readonly #directorySyncs: DirectorySyncs;
  readonly #space: SpaceReserve;
  readonly #drafts: DraftReader;
  readonly #memory: ProofMemory | null;
  #prepared: Promise<void> | null = null;

  constructor(root: string, options: StoreOptions) {
    this.#layout = layoutOf(root);
    this.#options = options;
    this.declarations = options.declarations;
    this.#fs = options.fileSystem ?? nodeFileSystem;
    this.#identity = new StoreIdentity(this.#fs, this.#layout);
    this.#nearProver = inlineProver(this.#fs, options.declarations);
    this.#prover = options.prover ?? this.#nearProver;
    this.#directorySyncs = new DirectorySyncs(this.#fs);
    this.#drafts = new DraftReader(options.limits?.arrays, (bytes, maxValues) =>
      this.#prover.run('draft', { bytes, maxValues }),
    );
    this.#space = new SpaceReserve(this.#fs, root, options.reserveBytes ?? 0);
    this.#memory =
      options.verify === 'once' ? new ProofMemory(options.verifyMaxAgeMs ?? DEFAULT_MAX_AGE_MS) : null;
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

  /** Publishes payloads as they arrive, in any order; resolves once the snapshot is durable (PW-07.04). */
  async publishDraft(draft: DraftManifest, payloads: AsyncIterable<IncomingPayload>): Promise<Published> {
    await this.prepare();
    const context = {
      fs: this.#fs,
      layout: this.#layout,
      identity: this.#identity,
      declarations: this.declarations,
      prover: this.#prover,
      nearProver: this.#nearProver,
      blocks: this.#blocks,
      directorySyncs: this.#directorySyncs,
      limits: this.#options.limits ?? {},
      space: this.#space,
    };
    return this.#locks.during(draft.snapshot.snapshot_id, () => publishSnapshot(context, draft, payloads));
  }

  /** Proves every byte of a snapshot and gives its manifest. Throws `SnapshotNotFoundError`, `StorageIntegrityError`. */
  async readManifest(id: SnapshotId, { signal }: ReadOptions = {}): Promise<ListedManifest> {
    signal?.throwIfAborted();
    return this.#prove(id, false);
  }

  async #prove(id: SnapshotId, withMacs: boolean): Promise<ListedManifest> {
    const startedAt = this.#memory?.now() ?? 0;
    const known = this.#memory?.known(id) ?? {};
    const proof = await this.#identity.reading(() =>
      this.#prover.run('verify', {
        directory: snapshotDirectory(this.#layout, id),
        snapshotId: id,
        stage: 'complete',
        payloads: 'all',
        known,
        withMacs,
      }),
    );
    this.#memory?.remember(id, known, proof.stamps, startedAt);
    return { ...proof, manifest: parseProven(proof.manifestBytes) };
  }

  /**
   * Proves a snapshot's frame and one array, and gives that array for reading; the caller must `close` it. With
   * `deliver: false` only its description is wanted and nothing stays open.
   */
  async openArray(
    id: SnapshotId,
    key: ArrayKey,
    { deliver = true, signal }: ReadOptions & { readonly deliver?: boolean } = {},
  ): Promise<StoredPayload> {
    signal?.throwIfAborted();
    return this.#openProven(id, key, deliver, this.#memory?.known(id) ?? {});
  }

  async #openProven(
    id: SnapshotId,
    key: ArrayKey,
    deliver: boolean,
    known: KnownProofs,
  ): Promise<StoredPayload> {
    const startedAt = this.#memory?.now() ?? 0;
    const opened = await this.#identity.reading(() =>
      this.#prover.run('openPayload', {
        directory: snapshotDirectory(this.#layout, id),
        snapshotId: id,
        key,
        deliver,
        known,
        withMacs: deliver && this.#memory === null,
      }),
    );
    this.#memory?.remember(id, known, opened.stamps, startedAt);
    const entry = parseProven(opened.manifestBytes).arrays[key];
    if (entry === undefined) throw new Error('A proven array has its entry.');
    const context = {
      fs: this.#fs,
      prover: this.#prover,
      blocks: this.#blocks,
    };
    return new StoredPayload(context, id, key, entry, opened);
  }

  /** Proves every byte of a snapshot and gives its files for mirroring. */
  async openPackage(id: SnapshotId, { signal }: ReadOptions = {}): Promise<PackageFiles> {
    signal?.throwIfAborted();
    const proven = await this.#prove(id, this.#memory === null);
    return packageFiles(id, proven, (key) => this.#openProven(id, key, true, proven.stamps));
  }

  /** Metadata and read-only, owned arrays; changing them cannot change what is stored (PW-07.05). */
  async open(id: SnapshotId): Promise<OpenedSnapshot> {
    const { manifest, manifestBytes, manifestSha256, hasIntent } = await this.readManifest(id);
    const arrays = Object.create(null) as Record<ArrayKey, ReadonlyIntegerArray>;
    for (const key of Object.keys(manifest.arrays)) {
      const payload = await this.openArray(id, key);
      try {
        if (payload.manifestSha256 !== manifestSha256) throw changedWhileOpening(id);
        arrays[key] = await assembleArray(payload);
      } finally {
        await payload.close();
      }
    }
    return { metadata: manifest.snapshot, manifest, manifestBytes, manifestSha256, hasIntent, arrays };
  }

  /** Proves and lists what is published, by id; anything that cannot be proven fails the listing by name (PW-07.18). */
  async listSnapshots(query: ListingQuery = {}): Promise<SnapshotListing> {
    return listSnapshots(this.#names(this.#layout.snapshots), query, this.#prover.parallelism, (id) =>
      this.readManifest(id),
    );
  }

  /** What lies in staging, judged without changing anything; advisory while publications run (PW-07.04). */
  async inspectIncomplete(query: IncompleteQuery = {}): Promise<IncompleteListing> {
    const { staging } = this.#layout;
    return inspectIncomplete(this.#names(staging), query, this.#prover.parallelism, (names) =>
      this.#prover.run('inspect', { staging, names }),
    );
  }

  /** Entries in `snapshots/`, unproven. */
  publishedCount(): number {
    return this.#names(this.#layout.snapshots).length;
  }

  /** Number and bytes of what lies in staging, from names and sizes alone. */
  async measureIncomplete(): Promise<StagingMeasure> {
    this.#identity.checkStaging();
    return this.#prover.run('measure', { staging: this.#layout.staging });
  }

  /** Why reads would fail now, as a sentence, or null when they would not. */
  readProblem(): string | null {
    try {
      this.#identity.check();
      return null;
    } catch (error) {
      if (isAnySnapshotError(error)) return error.message;
      throw error;
    }
  }

  /** Why publications would fail now, as a sentence, or null when they would not. Writes nothing. */
  async writeProblem(): Promise<string | null> {
    try {
      this.#identity.check();
      await this.#fs.checkWritable(this.#layout.staging);
      await this.#fs.checkWritable(this.#layout.snapshots);
      await this.#space.check(0);
      return null;
    } catch (error) {
      if (isAnySnapshotError(error)) return error.message;
      return `The root cannot be written (${errnoOf(error) ?? 'unexpected error'}).`;
    }
  }

  /** Bytes free for this process on the file system of the root, and its size. */
  freeBytes(): Promise<{ readonly free: bigint; readonly total: bigint }> {
    return this.#fs.freeBytes(this.#layout.root);
  }

  /** Stops the proving threads; running reads and publications fail. */
  close(): Promise<void> {
    return this.#prover.close();
  }

  /** Nothing where no such room was ever made under this root. */
  #names(directory: string): string[] {
    const { snapshots } = this.#layout;
    const isThere = (): boolean =>
      directory === snapshots ? this.#identity.checkSnapshots() : this.#identity.checkStaging();
    if (!isThere()) return [];
    try {
      return this.#fs.listDirectory(directory).map((entry) => entry.name);
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
  }
}

function changedWhileOpening(id: SnapshotId): SnapshotError<'storage_integrity'> {
  return new SnapshotError(
    'storage_integrity',
    `Snapshot ${id} changed while it was being opened; published snapshots never do.`,
    { snapshot_id: id, problem: 'manifest' },
  );
}
