/**
 * The store as everything around it sees it, whatever it keeps its snapshots on: what routes, commands, metrics and
 * probes use (PW-07.18). Reads prove before they give, refusals are those of `SnapshotError`, and what is given an
 * `AbortSignal` rejects with its reason, at the next piece of its work, once that was given.
 */
import type { Comparison } from '../contract/comparison.ts';
import type { Declarations } from '../contract/contexts.ts';
import type { StorageIntegrityError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { SnapshotSummary } from '../contract/listings.ts';
import type { ArrayEntry, BuiltManifest, DraftManifest } from '../contract/manifest.ts';
import type { OpenedSnapshot, ProvenManifest } from '../contract/opened.ts';
import type { ArrayInput, IncomingPayload } from './arrivals.ts';
import type { ComparedSide, CompareOptions } from './comparison.ts';
import type { ThreadCounts } from './engine.ts';
import type { FreeRoom } from './file-system.ts';
import type { AttemptLook, IncompleteListing, IncompleteQuery, StagingMeasure } from './inspection.ts';
import type {
  ListedSnapshot,
  ListingProblem,
  ListingQuery,
  Look,
  ProvenQuery,
  SnapshotListing,
} from './listing.ts';

/** `signal` says that nobody waits for the answer any more. */
export interface ReadOptions {
  /** Ends the work when nobody waits for it any more; the read then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface PublicationOptions {
  /** Up to its commit a publication ends when nobody waits for it any more; its attempt stays. */
  readonly signal?: AbortSignal | undefined;
  /** Bytes that the producer says will come, with whatever they are wrapped in. */
  readonly announcedBytes?: number | undefined;
}

export interface Published extends BuiltManifest {
  /** Name of the attempt that became the snapshot. */
  readonly attempt: string;
}

/** One proven array. Whoever got it must `close` it once the last of its bytes has left. */
export interface StoredArray {
  readonly snapshotId: SnapshotId;
  readonly key: ArrayKey;
  readonly entry: ArrayEntry;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** Bytes. */
  readonly byteLength: number;
  /** All bytes of a small payload, exactly as they were hashed; null for one that must be read in blocks. */
  readonly bytes: Uint8Array | null;
  /**
   * The bytes `start` up to but not including `end`. A yielded block is valid only until the next one is asked for. Each
   * block is proven once more before any of it is given: throws `StorageIntegrityError` where it is no longer what was
   * proven.
   */
  blocks(start?: number, end?: number): AsyncGenerator<Uint8Array, void, void>;
  close(): Promise<void>;
}

export interface PackagedFile {
  readonly name: string;
  readonly byteLength: number;
  /** The exact bytes; a block is valid only until the next one is asked for. Opens and closes what it needs. */
  blocks(): AsyncIterable<Uint8Array>;
}

/** A whole proven package as its files, for mirroring it in one piece (PW-07.02). */
export interface PackageFiles extends ProvenManifest {
  /**
   * In the order in which they were written: the marker comes last, so that a copy cut short is not complete. To be read
   * one after the other.
   */
  readonly files: readonly PackagedFile[];
}

export interface SnapshotStore {
  /** The C3 declarations in force (PW-07.01). */
  readonly declarations: Declarations;
  /** Makes the root usable; every publication does so first. Throws `UnusableRootError`. */
  prepare(): Promise<void>;

  /** Publishes arrays that the caller holds, or streams, as one immutable snapshot. */
  publish(metadata: unknown, arrays: Readonly<Record<ArrayKey, ArrayInput>>): Promise<Published>;
  /** Reads the metadata document of a publication. Throws `malformed_json` or `ContractViolationError`. */
  readDraft(bytes: Uint8Array): Promise<DraftManifest>;
  /** Publishes payloads as they arrive, in any order; resolves once the snapshot is durable (PW-07.04). */
  publishDraft(
    draft: DraftManifest,
    payloads: AsyncIterable<IncomingPayload>,
    options?: PublicationOptions,
  ): Promise<Published>;
  /** Throws `insufficient_storage` where so many bytes cannot be taken, beside all that is under way. */
  checkRoom(bytes: number): Promise<void>;

  /** Proves every byte of a snapshot and gives its manifest. */
  readManifest(id: SnapshotId, options?: ReadOptions): Promise<ProvenManifest>;
  /**
   * Proves a snapshot's frame and one array, and gives that array for reading. With `deliver: false` only its description
   * is wanted and nothing stays open.
   */
  openArray(
    id: SnapshotId,
    key: ArrayKey,
    options?: ReadOptions & { readonly deliver?: boolean },
  ): Promise<StoredArray>;
  /** Proves every byte of a snapshot once and gives its files for mirroring. */
  openPackage(id: SnapshotId, options?: ReadOptions): Promise<PackageFiles>;
  /** Metadata and read-only, owned arrays; changing them cannot change what is stored (PW-07.05). */
  open(id: SnapshotId, options?: ReadOptions): Promise<OpenedSnapshot>;
  /**
   * How `to` differs from `from`, by position or, with a `key`, by row; every byte of both is proven first. Throws what
   * `readManifest` does, and of the key `array_not_found` or `invalid_request`.
   */
  compareSnapshots(from: SnapshotId, to: SnapshotId, options?: CompareOptions): Promise<Comparison>;
  /** A snapshot as one side of a comparison, the other side of which may be elsewhere. */
  side(id: SnapshotId): ComparedSide;

  /** Proves and lists what is published, in order: a page, or without a `limit` everything (PW-07.18). */
  listSnapshots(query?: ProvenQuery, options?: ReadOptions): Promise<SnapshotListing<SnapshotSummary>>;
  listSnapshots(query: ListingQuery, options?: ReadOptions): Promise<SnapshotListing>;
  /** The same one by one, as they are taken; never more than a few are in memory. */
  streamSnapshots(query?: ListingQuery, options?: ReadOptions): AsyncGenerator<ListedSnapshot, void, void>;
  /** The same with what is passed over and what is wrong, for whoever decides about both. */
  lookAtSnapshots(query?: ListingQuery, options?: ReadOptions): AsyncGenerator<Look, void, void>;
  /** How a listing fails of which these entries cannot be proven: each is named. */
  readonly listingFailure: (found: AsyncIterable<ListingProblem>) => Promise<StorageIntegrityError>;

  /** Attempts that are no snapshots, judged without changing anything; advisory while publications run (PW-07.04). */
  inspectIncomplete(query?: IncompleteQuery, options?: ReadOptions): Promise<IncompleteListing>;
  /** The same one by one, as they are taken. */
  lookAtIncomplete(query?: IncompleteQuery, options?: ReadOptions): AsyncGenerator<AttemptLook, void, void>;

  /** Entries of the room of snapshots, unproven, and when the last of them came: null where there are none. */
  published(): Promise<{ readonly count: number; readonly lastNs: bigint | null }>;
  /** Number and bytes of the attempts that are no snapshots; null where telling would mean to look at every one. */
  measureIncomplete(): Promise<StagingMeasure | null>;
  /** What this process may still write; null where what the store lies on does not say. */
  freeRoom(): Promise<FreeRoom | null>;
  /** Why reads would fail now, as a sentence, or null when they would not. */
  readProblem(): Promise<string | null>;
  /** Why publications would fail now, as a sentence, or null when they would not. Writes nothing. */
  writeProblem(): Promise<string | null>;
  /** The threads that write and prove, and how many have died so far. */
  readonly threads: ThreadCounts;

  /** Stops what works for this store; running reads and publications fail. */
  close(): Promise<void>;
}
