/**
 * Publishes a snapshot, and after a lost answer finds out what became of it instead of guessing: whether what is stored
 * is what was to be published is decided by digests, never by its name.
 */
import {
  PublicationInProgressError,
  PublicationUncertainError,
  SnapshotNotFoundError,
} from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import {
  buildManifest,
  type BuiltManifest,
  type DraftManifest,
  type SeenPayload,
} from '../contract/manifest.ts';
import type { ProvenManifest } from '../contract/opened.ts';
import { expectStatus } from './answers.ts';
import { draftOf } from './draft.ts';
import {
  ConnectionError,
  isProblemError,
  OutcomeUnknownError,
  ProblemError,
  ProtocolError,
  refusedLocally,
  TimeoutError,
  SnapshotClientError,
} from './errors.ts';
import { multipartBody } from './multipart.ts';
import { resolveRetry, type RetryPolicy } from './options.ts';
import { fetchManifest, readManifest } from './reads.ts';
import { seenOf, sourceOf, type ArrayInput, type ArraySource } from './sources.ts';
import { isTransient, pauseAfter, wait, type Transport } from './transport.ts';

export interface PublishProgress {
  /** Bytes of the arrays handed to the connection in this attempt. */
  readonly sentBytes: number;
  /** Null where a stream's length is unknown. */
  readonly totalBytes: number | null;
  /** From 1; a new attempt begins at 0 bytes again. */
  readonly attempt: number;
}

export interface PublishOptions {
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly signal?: AbortSignal;
  /** Over the client's own policy. Arrays are sent again only if all of them can be read again: streams cannot. */
  readonly retry?: Partial<RetryPolicy> | false;
  /**
   * What to do if the id is taken although no answer was lost: `fail`, the default, throws `SnapshotExistsError`;
   * `confirm` succeeds if what is stored is exactly what was to be published (streams cannot be compared).
   */
  readonly ifExists?: 'fail' | 'confirm';
  /**
   * Whether arrays in memory and files are hashed beforehand and declared with their SHA-256, so that the service
   * refuses bytes that changed on the way. True by default; with false, files are read only once.
   */
  readonly declareDigests?: boolean;
}

export interface PublishResult extends ProvenManifest {
  /**
   * `published`: the service answered that it did, durably. `confirmed`: the answer was lost or uncertain, or the
   * snapshot was there before, and what is stored has been proven to be exactly this snapshot.
   */
  readonly outcome: 'published' | 'confirmed';
  /** Requests that sent the snapshot. */
  readonly attempts: number;
  /** Why it had to be confirmed. After a `PublicationUncertainError` it is there, but its durability is not known. */
  readonly confirmedAfter: SnapshotClientError | null;
}

/** A publication under way. */
interface Publication {
  readonly transport: Transport;
  readonly draft: DraftManifest;
  readonly sources: readonly ArraySource[];
  readonly options: PublishOptions;
  /** What was seen of the payloads, before they were sent or while. */
  readonly seen: Record<ArrayKey, SeenPayload>;
}

export async function publishSnapshot(
  transport: Transport,
  metadata: unknown,
  arrays: Readonly<Record<ArrayKey, ArrayInput>>,
  options: PublishOptions,
): Promise<PublishResult> {
  const policy = resolveRetry(options.retry, transport.retry);
  const sources: ArraySource[] = [];
  for (const [key, input] of Object.entries(arrays)) sources.push(await sourceOf(key, input));
  const seen = Object.create(null) as Record<ArrayKey, SeenPayload>;
  // A wrong document is refused before gigabytes are hashed.
  let draft = draftOf(metadata, sources, seen);
  if (options.declareDigests !== false) {
    for (const source of sources) {
      if (source.replayable) seen[source.key] = await seenOf(source, options.signal);
    }
    draft = draftOf(metadata, sources, seen);
  }
  return sendUntilKnown({ transport, draft, sources, options, seen }, policy);
}

/** Sends, and sends again, until the snapshot is known to be stored or not to be. */
async function sendUntilKnown(publication: Publication, policy: RetryPolicy): Promise<PublishResult> {
  const { sources, options, draft } = publication;
  const replayable = sources.every((source) => source.replayable);
  /** The failure since which the snapshot may be stored; null as long as it cannot be. */
  let lost: SnapshotClientError | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const result = await sendOnce(publication, attempt);
    if ('proven' in result) {
      return { ...result.proven, outcome: 'published', attempts: attempt, confirmedAfter: null };
    }
    const { failure, mayBeStored, started } = result;
    const exists = isProblemError(failure) && failure.code === 'snapshot_exists' ? failure : null;
    if (exists !== null && lost === null && options.ifExists !== 'confirm') {
      throw await withComputedDigest(exists, publication);
    }
    if (mayBeStored) lost = failure;
    if (exists !== null || lost !== null) {
      const proven = await storedSnapshot(publication, exists, lost);
      if (proven !== null) {
        return { ...proven, outcome: 'confirmed', attempts: attempt, confirmedAfter: lost ?? failure };
      }
    }
    const again = mayBeStored || exists !== null || maySendAgain(failure);
    const pause = again && (replayable || !started) ? pauseAfter(attempt, failure, policy) : null;
    if (pause === null) {
      throw lost === null ? failure : new OutcomeUnknownError(draft.snapshot.snapshot_id, { cause: failure });
    }
    await wait(pause, options.signal);
  }
}

interface FailedAttempt {
  readonly failure: SnapshotClientError;
  /** Bytes were taken from the sources: a stream is not what it was. */
  readonly started: boolean;
  /** The service had the whole snapshot, and its answer does not say that it refused. */
  readonly mayBeStored: boolean;
}

/** Throws the reason of the abort signal, and `ProtocolError` if something else was stored than sent. */
async function sendOnce(
  publication: Publication,
  attempt: number,
): Promise<{ readonly proven: ProvenManifest } | FailedAttempt> {
  const { transport, draft, sources, options, seen } = publication;
  const id = draft.snapshot.snapshot_id;
  const { headers, body, sent } = multipartBody(draft, sources, seen, progressReporter(publication, attempt));
  let stored = false;
  let proven: ProvenManifest;
  try {
    const request = { method: 'POST', headers, body, signal: options.signal } as const;
    const answer = await expectStatus(await transport.request('/snapshots', request), 201);
    stored = true;
    proven = await readManifest(answer, id);
  } catch (failure) {
    if (!(failure instanceof SnapshotClientError)) throw failure;
    // Whatever answers 5xx in its own words stands between: the service behind it may have published.
    const unanswered =
      failure instanceof ConnectionError ||
      failure instanceof TimeoutError ||
      (failure instanceof ProtocolError && (failure.status ?? 0) >= 500);
    return {
      failure,
      started: sent.started,
      mayBeStored: stored || failure instanceof PublicationUncertainError || (sent.complete && unanswered),
    };
  } finally {
    Object.assign(seen, sent.seen);
  }
  const expected = await expectedManifest(publication);
  if (expected !== null && expected.sha256 !== proven.manifestSha256) {
    throw new ProtocolError(
      `The service stored snapshot ${id} with the manifest ${proven.manifestSha256}; what was sent has ${expected.sha256}.`,
      { status: 201 },
    );
  }
  return { proven };
}

/**
 * The stored snapshot if it is proven to be the one of this publication; null if there is none, or nobody can say yet.
 * `exists` is the service's word that the id is taken, `lost` the failure since which it may be by this publication.
 *
 * @throws SnapshotExistsError if something else is stored under the id
 * @throws OutcomeUnknownError if what is stored cannot be proven
 */
async function storedSnapshot(
  publication: Publication,
  exists: ProblemError | null,
  lost: SnapshotClientError | null,
): Promise<ProvenManifest | null> {
  const id = publication.draft.snapshot.snapshot_id;
  const expected = await expectedManifest(publication);
  if (expected === null) {
    if (exists !== null && lost === null) throw exists;
    return null;
  }
  const proven = await lookUp(publication, lost);
  if (proven === null || proven.manifestSha256 === expected.sha256) return proven;
  throw refusedLocally(
    'snapshot_exists',
    `Snapshot ${id} is published with other content: its manifest has the SHA-256 ${proven.manifestSha256}, the one to be ` +
      `published ${expected.sha256}. Nothing was changed; choose another id.`,
    { snapshot_id: id, location: `snapshots/${id}`, manifest_sha256: proven.manifestSha256 },
  );
}

async function lookUp(
  { transport, draft, options }: Publication,
  lost: SnapshotClientError | null,
): Promise<ProvenManifest | null> {
  const id = draft.snapshot.snapshot_id;
  try {
    return await fetchManifest(transport, id, options.signal);
  } catch (cause) {
    if (!(cause instanceof SnapshotClientError)) throw cause;
    if (cause instanceof SnapshotNotFoundError || maySendAgain(cause)) return null;
    throw lost === null ? cause : new OutcomeUnknownError(id, { cause });
  }
}

/** The manifest as the service must build it, or null if a stream has not been read to its end. */
async function expectedManifest({
  draft,
  sources,
  seen,
  options,
}: Publication): Promise<BuiltManifest | null> {
  for (const source of sources) {
    if (seen[source.key] !== undefined) continue;
    if (!source.replayable) return null;
    seen[source.key] = await seenOf(source, options.signal);
  }
  return buildManifest(draft, seen);
}

/** The refusal with the digest of what was to be published, where that is known without reading arrays again. */
async function withComputedDigest(exists: ProblemError, publication: Publication): Promise<ProblemError> {
  const { sources, seen } = publication;
  const known = sources.every(({ key }) => seen[key] !== undefined);
  const computed = known ? ((await expectedManifest(publication))?.sha256 ?? null) : null;
  if (computed === null) return exists;
  return new ProblemError({ ...exists.problem, computed_manifest_sha256: computed }, exists);
}

/** Failures that say nothing against another try. */
function maySendAgain(failure: SnapshotClientError): boolean {
  return (
    isTransient(failure) ||
    failure instanceof TimeoutError ||
    failure instanceof PublicationInProgressError ||
    failure instanceof PublicationUncertainError
  );
}

function progressReporter({ sources, options }: Publication, attempt: number): (bytes: number) => void {
  const { onProgress } = options;
  if (onProgress === undefined) return () => undefined;
  let sentBytes = 0;
  const totalBytes = sources.reduce<number | null>(
    (sum, { byteLength }) => (sum === null || byteLength === null ? null : sum + byteLength),
    0,
  );
  onProgress({ sentBytes, totalBytes, attempt });
  return (bytes) => {
    sentBytes += bytes;
    onProgress({ sentBytes, totalBytes, attempt });
  };
}
