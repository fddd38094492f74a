/**
 * The publication state machine of PW-07.04, in its order: validate, attempt and intent, payloads, manifest, read back,
 * marker, validate the package, sync the attempt, rename, sync both parents. Nothing here overwrites, deletes, repairs or
 * tries again; whatever fails stays in staging as evidence.
 */
import {
  INTENT_FILE,
  MANIFEST_FILE,
  MARKER_FILE,
  intentBytes,
  markerBytes,
  payloadFileName,
} from '../contract/package.ts';
import { dtypeWidth } from '../contract/dtypes.ts';
import { isAnySnapshotError, SnapshotError } from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import { buildManifest, type BuiltManifest, type DraftManifest } from '../contract/manifest.ts';
import type { Declarations } from '../contract/contexts.ts';
import type { FileStamp, FileSystem } from './file-system.ts';
import type { IncomingPayload, StoreLimits } from './arrivals.ts';
import type { DirectorySyncs } from './directory-syncs.ts';
import type { Executor } from './engine.ts';
import { isMissing, saysExists, writeAndSync } from './io.ts';
import {
  attemptDirectory,
  attemptLocation,
  freshAttemptName,
  snapshotDirectory,
  snapshotLocation,
  type Layout,
} from './layout.ts';
import type { KnownProofs } from './payload-proof.ts';
import { writePayload, type PayloadWriterContext, type WrittenPayload } from './payload-writer.ts';
import type { Proofs } from './proofs.ts';
import { publicationFailure, settleAll, type Step } from './publication-errors.ts';
import { checkDraft, existsAlready, parentRefusal, receivePayloads, type Received } from './receiving.ts';
import type { StoreIdentity } from './root.ts';
import type { PublicationOptions, Published } from './snapshot-store.ts';
import type { Announced, SpaceClaim, SpaceReserve } from './space-reserve.ts';

/** The most that is proven in the thread that publishes: well under a millisecond of work. */
const NEAR_BYTES = 256 * 1024;
const NEAR_FILES = 16;

export interface PublicationContext extends PayloadWriterContext {
  readonly fs: FileSystem;
  readonly layout: Layout;
  readonly identity: StoreIdentity;
  readonly declarations: Declarations;
  readonly proofs: Proofs;
  /** Runs in the calling thread. */
  readonly near: Executor;
  readonly directorySyncs: DirectorySyncs;
  readonly limits: StoreLimits;
  readonly space: SpaceReserve;
  /** Locations of the attempts that publications of this process are at work on. */
  readonly inFlight: Set<string>;
}

/**
 * Publishes one snapshot and resolves only when it is durable. The caller holds the lock of its id. Throws before the
 * rename with the snapshot absent, or `publication_uncertain` after it (PW-07.18). Up to the rename it ends, at the next
 * piece of its work, when `signal` says that nobody waits for it any more; from there on it goes to its end.
 */
export async function publishSnapshot(
  context: PublicationContext,
  draft: DraftManifest,
  payloads: AsyncIterable<IncomingPayload>,
  { signal, announcedBytes = 0 }: PublicationOptions = {},
): Promise<Published> {
  const claim = await refuseBeforeStaging(context, draft, { signal, announcedBytes });
  try {
    return await new Publication(context, draft, claim, signal).run(payloads);
  } finally {
    claim.end();
  }
}

/** What the document itself says is surer than what wraps it, where it says it of every array. */
function announcedBy({ arrays }: DraftManifest, wrapped: number): Announced {
  const entries = Object.values(arrays);
  const lengths = entries.map(({ dtype, count, byte_length: length }) => {
    if (length !== undefined) return BigInt(length);
    return dtype !== undefined && count !== undefined ? BigInt(count) * BigInt(dtypeWidth(dtype)) : null;
  });
  const declared = lengths.reduce<bigint>((sum, length) => sum + (length ?? 0n), 0n);
  const bytes = lengths.includes(null) && BigInt(wrapped) > declared ? BigInt(wrapped) : declared;
  return { bytes, files: entries.length };
}

class Publication {
  readonly #context: PublicationContext;
  readonly #draft: DraftManifest;
  readonly #claim: SpaceClaim;
  readonly #signal: AbortSignal | undefined;
  readonly #id: string;
  readonly #attempt = freshAttemptName();
  readonly #directory: string;
  /** Every sync and read-back under way: all are awaited, whatever happens, before this publication ends. */
  readonly #underWay: Promise<unknown>[] = [];
  #step: Step = 'attempt';
  #made = false;
  #failuresBefore = 0;

  constructor(
    context: PublicationContext,
    draft: DraftManifest,
    claim: SpaceClaim,
    signal: AbortSignal | undefined,
  ) {
    this.#context = context;
    this.#claim = claim;
    this.#signal = signal;
    this.#draft = draft;
    this.#id = draft.snapshot.snapshot_id;
    this.#directory = attemptDirectory(context.layout, this.#attempt);
  }

  async run(payloads: AsyncIterable<IncomingPayload>): Promise<Published> {
    const location = attemptLocation(this.#attempt);
    this.#context.inFlight.add(location);
    let built: BuiltManifest;
    try {
      built = await this.#stage(payloads);
      await this.#rename(built);
    } catch (error) {
      await Promise.allSettled(this.#underWay);
      throw this.#failure(error);
    } finally {
      this.#context.inFlight.delete(location);
    }
    await this.#syncParents(built);
    return { ...built, attempt: this.#attempt };
  }

  /** A disk that fails because it is another one by now is away for a while, not broken. */
  #failure(error: unknown): SnapshotError {
    const attempt = this.#made ? attemptLocation(this.#attempt) : undefined;
    const failure = publicationFailure(error, {
      id: this.#id,
      step: this.#step,
      attempt,
      signal: this.#signal,
    });
    if (failure.code !== 'publication_failed') return failure;
    try {
      this.#context.identity.check();
      return failure;
    } catch (away) {
      if (!isAnySnapshotError(away)) return failure;
      return attempt === undefined ? away : away.withAttempt(attempt);
    }
  }

  async #stage(payloads: AsyncIterable<IncomingPayload>): Promise<BuiltManifest> {
    const { fs } = this.#context;
    await fs.makeDirectory(this.#directory);
    this.#made = true;
    this.#step = 'intent';
    await this.#write(INTENT_FILE, intentBytes(this.#id));

    this.#step = 'payloads';
    const { written, draft } = await this.#receive(payloads);

    this.#step = 'manifest';
    const built = buildManifest(draft, Object.fromEntries(written));
    await this.#write(MANIFEST_FILE, built.bytes);

    // Reading back overlaps the syncs; the marker waits for both (step 4).
    this.#step = 'read-back';
    const known = await settleAll(this.#validateStaged(written), this.#underWay);

    this.#step = 'marker';
    const marker = await this.#write(MARKER_FILE, markerBytes(built.sha256));
    this.#step = 'validation';
    await settleAll(this.#validateComplete(built, known, written), [marker.synced]);

    this.#step = 'attempt sync';
    await fs.syncDirectory(this.#directory);
    return built;
  }

  #receive(payloads: AsyncIterable<IncomingPayload>): Promise<Received<WrittenPayload>> {
    const claim = this.#claim;
    const stored = (bytes: number): void => {
      claim.stored(bytes);
    };
    return receivePayloads(this.#draft, payloads, this.#context.limits, async (key, chunks, onBytes) => {
      const written = await writePayload(
        this.#context,
        this.#directory,
        key,
        claim.guard(chunks),
        onBytes,
        stored,
      );
      this.#underWay.push(written.synced);
      return written;
    });
  }

  /** Small payloads are read back here, large ones were while they arrived and must still be in that state. */
  async #validateStaged(written: ReadonlyMap<ArrayKey, WrittenPayload>): Promise<KnownProofs> {
    const known: Record<string, FileStamp> = {};
    for (const { key, stamp } of written.values()) if (stamp !== null) known[payloadFileName(key)] = stamp;
    return (await this.#prove('staged', known, written)).proofs;
  }

  async #validateComplete(
    built: BuiltManifest,
    known: KnownProofs,
    written: ReadonlyMap<ArrayKey, WrittenPayload>,
  ): Promise<void> {
    const { manifestSha256 } = await this.#prove('complete', known, written);
    if (manifestSha256 !== built.sha256)
      throw new Error('The staged manifest is not the one that was written.');
  }

  /** What was written a moment ago is in memory still: of a few small files the hand-over would cost more than the proof. */
  #prove(
    stage: 'staged' | 'complete',
    known: KnownProofs,
    written: ReadonlyMap<ArrayKey, WrittenPayload>,
  ): ReturnType<Proofs['provePackage']> {
    const { proofs, near } = this.#context;
    const bytes = [...written.values()].reduce((sum, payload) => sum + payload.byteLength, 0);
    const request = {
      directory: this.#directory,
      snapshotId: this.#id,
      stage,
      payloads: 'all',
      known,
    } as const;
    return bytes <= NEAR_BYTES && written.size <= NEAR_FILES
      ? proofs.provePackage(request, this.#signal, near)
      : proofs.provePackage(request, this.#signal);
  }

  async #write(name: string, bytes: Uint8Array): Promise<{ readonly synced: Promise<void> }> {
    const { fs } = this.#context;
    const file = writeAndSync(fs, fs.createFile(`${this.#directory}/${name}`), bytes);
    this.#underWay.push(file.synced);
    await file.stored;
    return file;
  }

  /**
   * The one moment of publication. POSIX rename silently replaces an empty directory, so emptiness is checked once more;
   * between that check and the rename only an empty directory, which holds nothing, could be replaced.
   */
  async #rename(built: BuiltManifest): Promise<void> {
    const { fs, layout, identity } = this.#context;
    this.#step = 'rename';
    await refuseExisting(this.#context, this.#id);
    const target = snapshotDirectory(layout, this.#id);
    identity.check();
    const own = fs.statEntry(this.#directory);
    this.#signal?.throwIfAborted();
    this.#failuresBefore = this.#parentFailures();
    try {
      await fs.rename(this.#directory, target);
    } catch (error) {
      if (saysExists(error)) throw await existing(this.#context, this.#id);
      if (isSameDirectory(fs, target, own)) throw this.#uncertain(error, built);
      throw error;
    }
  }

  async #syncParents(built: BuiltManifest): Promise<void> {
    const { directorySyncs, layout, identity } = this.#context;
    this.#step = 'parent sync';
    try {
      await settleAll(directorySyncs.sync(layout.snapshots), [directorySyncs.sync(layout.staging)]);
      if (this.#parentFailures() !== this.#failuresBefore) {
        throw new Error('A sync of a parent directory failed after this rename had begun.');
      }
      // A rename goes by names: what was exchanged right before it took the snapshot with it.
      identity.check();
    } catch (error) {
      throw this.#uncertain(error, built);
    }
  }

  #parentFailures(): number {
    const { directorySyncs, layout } = this.#context;
    return directorySyncs.failures(layout.snapshots) + directorySyncs.failures(layout.staging);
  }

  #uncertain(cause: unknown, built: BuiltManifest): SnapshotError<'publication_uncertain'> {
    const location = snapshotLocation(this.#id);
    return new SnapshotError(
      'publication_uncertain',
      `${location} was renamed into place, but making that durable failed. The snapshot may be published: read it ` +
        'before anything else is tried; it is never overwritten.',
      { snapshot_id: this.#id, location, manifest_sha256: built.sha256, phase: this.#step },
      { cause },
    );
  }
}

function isSameDirectory(fs: FileSystem, target: string, own: FileStamp): boolean {
  try {
    const found = fs.statEntry(target);
    return found.dev === own.dev && found.ino === own.ino;
  } catch (error) {
    return !isMissing(error);
  }
}

/** Step 1: everything that can be refused before anything is made. */
async function refuseBeforeStaging(
  context: PublicationContext,
  draft: DraftManifest,
  { signal, announcedBytes = 0 }: PublicationOptions,
): Promise<SpaceClaim> {
  const { snapshot_id: id, parent_id: parentId } = draft.snapshot;
  checkDraft(draft, context);
  context.identity.check();
  try {
    await refuseExisting(context, id);
    if (parentId !== null) await proveParent(context, parentId, signal);
    return await context.space.claim(announcedBy(draft, announcedBytes));
  } catch (error) {
    context.identity.check();
    // A parent that cannot be read is no fault of the document that names it.
    if (isAnySnapshotError(error) && error.code !== 'storage_integrity') throw error;
    throw publicationFailure(error, { id, step: 'validation of the request', signal });
  }
}

/** Anything under the id counts: a package, an empty directory, a file, a link (PW-07.04). */
async function refuseExisting(context: PublicationContext, id: string): Promise<void> {
  try {
    context.fs.statEntry(snapshotDirectory(context.layout, id));
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw await existing(context, id);
}

/** The refusal for an id that is taken, with the stored manifest's digest where it can be read. */
async function existing(context: PublicationContext, id: string): Promise<SnapshotError<'snapshot_exists'>> {
  const directory = snapshotDirectory(context.layout, id);
  const location = snapshotLocation(id);
  let digest: string | null = null;
  try {
    const input = { directory, snapshotId: id, stage: 'complete', payloads: 'none' } as const;
    const { manifestSha256 } = await context.executor.run('verify', input);
    digest = manifestSha256;
  } catch {
    // The refusal holds whatever lies there; its digest is a help, not a condition.
  }
  return existsAlready(id, location, digest);
}

/** A parent must be published and valid when its child is published (PW-07.01). */
async function proveParent(
  context: PublicationContext,
  parentId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const directory = snapshotDirectory(context.layout, parentId);
  try {
    const request = { directory, snapshotId: parentId, stage: 'complete', payloads: 'all' } as const;
    await context.proofs.provePackage(request, signal);
  } catch (cause) {
    throw parentRefusal(parentId, cause);
  }
}
