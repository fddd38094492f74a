/**
 * A publication on an engine, in the order of PW-07.04: intent, payloads, manifest, read back, marker, package proven, commit.
 * The commit is one conditional PUT: at most one creator among all instances, and the only moment of publication. Nothing
 * here overwrites, deletes or repairs; whatever fails stays as it is and shows in /incomplete.
 */
import { hash } from 'node:crypto';
import { dtypeWidth } from '../contract/dtypes.ts';
import { SnapshotError, StorageIntegrityError } from '../contract/errors.ts';
import {
  buildManifest,
  type BuiltManifest,
  type DraftArray,
  type DraftManifest,
} from '../contract/manifest.ts';
import {
  INTENT_FILE,
  intentBytes,
  MANIFEST_FILE,
  MARKER_FILE,
  markerBytes,
  payloadFileName,
} from '../contract/package.ts';
import type { Declarations } from '../contract/contexts.ts';
import type { IncomingPayload, StoreLimits } from '../store/arrivals.ts';
import { freshAttemptName } from '../store/layout.ts';
import { publicationFailure, type Step } from '../store/publication-errors.ts';
import { checkDraft, existsAlready, parentRefusal, receivePayloads } from '../store/receiving.ts';
import type { PublicationOptions, Published } from '../store/snapshot-store.ts';
import { commitBytes, commitName, fileName, packageLocation, type Commit } from './layout.ts';
import { UnknownWrite } from './engine-errors.ts';
import type { Objects, ObjectStamp } from './objects.ts';
import {
  uploadPayload,
  type PartBudget,
  type UploadContext,
  type UploadedPayload,
} from './payload-upload.ts';
import type { Packages } from './reading.ts';

export interface EnginePublication {
  readonly objects: Objects;
  readonly packages: Packages;
  readonly budget: PartBudget;
  readonly declarations: Declarations;
  readonly limits: StoreLimits;
}

/**
 * Publishes one snapshot and resolves only when its commit is written. The caller holds the lock of its id. Throws before the
 * commit with the snapshot absent, `snapshot_exists` where another one was committed, or `publication_uncertain`.
 */
export async function publishToEngine(
  context: EnginePublication,
  draft: DraftManifest,
  payloads: AsyncIterable<IncomingPayload>,
  options: PublicationOptions,
): Promise<Published> {
  const { snapshot_id: id } = draft.snapshot;
  try {
    await refuseBeforeStaging(context, draft, options.signal);
  } catch (error) {
    throw publicationFailure(error, { id, step: 'validation of the request', signal: options.signal });
  }
  return new Publication(context, draft, options).run(payloads);
}

class Publication {
  readonly #context: EnginePublication;
  readonly #draft: DraftManifest;
  readonly #options: PublicationOptions;
  readonly #id: string;
  readonly #attempt = freshAttemptName();
  /** Everything under way: awaited, whatever happens, before this publication ends. */
  readonly #underWay: Promise<unknown>[] = [];
  /** Ends what is under way once it is in vain. */
  readonly #ended = new AbortController();
  #step: Step = 'intent';

  constructor(context: EnginePublication, draft: DraftManifest, options: PublicationOptions) {
    this.#context = context;
    this.#draft = draft;
    this.#options = options;
    this.#id = draft.snapshot.snapshot_id;
  }

  async run(payloads: AsyncIterable<IncomingPayload>): Promise<Published> {
    const { signal } = this.#options;
    const leave = (): void => {
      this.#ended.abort(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    let built: BuiltManifest;
    try {
      built = await this.#stage(payloads);
      signal?.throwIfAborted();
    } catch (error) {
      this.#ended.abort(error);
      await Promise.allSettled(this.#underWay);
      throw this.#failure(error);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
    await this.#commit(built);
    return { ...built, attempt: this.#attempt };
  }

  async #stage(payloads: AsyncIterable<IncomingPayload>): Promise<BuiltManifest> {
    const { signal } = this.#ended;
    this.#options.signal?.throwIfAborted();
    const intent = intentBytes(this.#id);
    await this.#put(INTENT_FILE, intent);

    this.#step = 'payloads';
    const { written, draft } = await this.#receive(payloads);

    this.#step = 'manifest';
    const built = buildManifest(draft, Object.fromEntries(written));
    await this.#put(MANIFEST_FILE, built.bytes);

    this.#step = 'read-back';
    const stamps = new Map<string, ObjectStamp>();
    const payloadsProven = [...written].map(async ([key, { proven }]) => {
      stamps.set(payloadFileName(key), await proven);
    });
    await Promise.all([
      ...payloadsProven,
      this.#readBack(INTENT_FILE, intent, stamps),
      this.#readBack(MANIFEST_FILE, built.bytes, stamps),
    ]);

    this.#step = 'marker';
    await this.#put(MARKER_FILE, markerBytes(built.sha256));

    this.#step = 'validation';
    const frame = await this.#context.packages.proveAttempt(this.#attempt, this.#id, signal);
    if (frame.manifestSha256 !== built.sha256) throw changed(MANIFEST_FILE);
    for (const [file, { etag, size }] of stamps) {
      const found = frame.stamps.get(file);
      if (found?.etag !== etag || found.size !== size) throw changed(file);
    }
    return built;
  }

  #receive(payloads: AsyncIterable<IncomingPayload>) {
    const { objects, budget, limits } = this.#context;
    const context: UploadContext = { objects, budget, signal: this.#ended.signal };
    return receivePayloads<UploadedPayload>(this.#draft, payloads, limits, async (key, chunks, onBytes) => {
      const name = fileName(this.#attempt, payloadFileName(key));
      const declared = this.#draft.arrays[key] as DraftArray;
      const expectedBytes = expectedLength(declared) ?? this.#options.announcedBytes ?? 0;
      const written = await uploadPayload(context, name, chunks, { expectedBytes, onBytes });
      this.#underWay.push(written.proven);
      return written;
    });
  }

  /** That it exists can only be an own attempt before, as the name is fresh; what lies there is read back in any case. */
  async #put(file: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#context.objects.put(fileName(this.#attempt, file), bytes, this.#ended.signal);
    } catch (error) {
      throw error instanceof UnknownWrite ? error.cause : error;
    }
  }

  async #readBack(file: string, bytes: Uint8Array, stamps: Map<string, ObjectStamp>): Promise<void> {
    const name = fileName(this.#attempt, file);
    const found = await this.#context.objects.read(name, bytes.length, this.#ended.signal);
    if (found === null || hash('sha256', found.bytes) !== hash('sha256', bytes)) throw changed(file);
    stamps.set(file, found.stamp);
  }

  /** From here on it goes to its end, whoever has left. */
  async #commit({ sha256 }: BuiltManifest): Promise<void> {
    const { objects } = this.#context;
    this.#step = 'commit';
    const own: Commit = { attempt: this.#attempt, manifestSha256: sha256, snapshotId: this.#id };
    let cause: unknown;
    try {
      if ((await objects.put(commitName(this.#id), commitBytes(own))) === 'written') return;
    } catch (error) {
      if (!(error instanceof UnknownWrite)) throw this.#failure(error);
      cause = error.cause;
    }
    await this.#resolve(own, cause);
  }

  /** What was committed, read from there: an own commit whose answer was lost, or another's. */
  async #resolve(own: Commit, cause: unknown): Promise<void> {
    const { packages } = this.#context;
    let found: Commit | null;
    try {
      found = await packages.commitOf(this.#id);
    } catch (error) {
      throw this.#uncertain(own, cause ?? error);
    }
    if (found?.attempt === own.attempt) return;
    // A write without an answer may still be on its way.
    if (found === null) throw this.#uncertain(own, cause);
    try {
      const { manifestSha256 } = await packages.proveFrame(this.#id);
      throw existsAlready(this.#id, commitName(this.#id), manifestSha256).withAttempt(
        packageLocation(this.#attempt),
      );
    } catch (error) {
      if (error instanceof SnapshotError && error.code === 'snapshot_exists') throw error;
      // What contradicts an own commit has to be proven itself.
      throw this.#uncertain(own, error);
    }
  }

  #failure(error: unknown): SnapshotError {
    return publicationFailure(error, {
      id: this.#id,
      step: this.#step,
      attempt: packageLocation(this.#attempt),
      signal: this.#options.signal,
    });
  }

  #uncertain({ manifestSha256 }: Commit, cause: unknown): SnapshotError<'publication_uncertain'> {
    const location = commitName(this.#id);
    return new SnapshotError(
      'publication_uncertain',
      `Whether ${location} was written is not known: the engine gave no answer that says so. The snapshot may be published, ` +
        'now or in a moment: read it before anything else is tried; it is never overwritten.',
      { snapshot_id: this.#id, location, manifest_sha256: manifestSha256, phase: this.#step },
      { cause },
    );
  }
}

/** Bytes of an array as its document says them, where it does. */
function expectedLength({ dtype, count, byte_length: length }: DraftArray): number | null {
  if (length !== undefined) return Number(length);
  return dtype !== undefined && count !== undefined ? Number(count) * dtypeWidth(dtype) : null;
}

function changed(file: string): StorageIntegrityError {
  return new StorageIntegrityError(`${file} does not hold the bytes that were written to it.`, {
    problem: 'checksum',
    location: file,
  });
}

/** Step 1: everything that can be refused before anything is written. */
async function refuseBeforeStaging(
  context: EnginePublication,
  draft: DraftManifest,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { snapshot_id: id, parent_id: parentId } = draft.snapshot;
  checkDraft(draft, context);
  await refuseExisting(context, id, signal);
  if (parentId === null) return;
  try {
    await context.packages.provePackage(parentId, { signal });
  } catch (cause) {
    throw parentRefusal(parentId, cause);
  }
}

/** Anything under the id counts, whatever it says. */
async function refuseExisting(
  { packages }: EnginePublication,
  id: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let digest: string | null = null;
  try {
    digest = (await packages.proveFrame(id, signal)).manifestSha256;
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    if (error.code === 'snapshot_not_found') return;
    if (error.code === 'unavailable') throw error;
  }
  throw existsAlready(id, commitName(id), digest);
}
