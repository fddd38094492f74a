/** Publishes a snapshot, and after a lost answer finds out what became of it instead of guessing. */
import type { ArrayKey } from '../contract/ids.ts';
import type { SeenPayload } from '../contract/manifest.ts';
import type { ArraySource } from './array-source.ts';
import { seenOf, sourceOf, type ArrayInput } from './array-sources.ts';
import { draftOf } from './draft.ts';
import { OutcomeUnknownError, type SnapshotClientError } from './errors.ts';
import { resolveRetry, type RetryPolicy } from './options.ts';
import { SnapshotExistsError } from './problem-errors.ts';
import { expectedManifest, isTransient, type Publication } from './publication.ts';
import { sendOnce } from './publish-attempt.ts';
import { storedSnapshot } from './publish-confirmation.ts';
import type { PublishOptions, PublishResult } from './publish-options.ts';
import { pauseAfter, wait } from './retries.ts';
import type { Transport } from './transport.ts';

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
  return run({ transport, draft, sources, options, seen }, policy);
}

async function run(publication: Publication, policy: RetryPolicy): Promise<PublishResult> {
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
    const exists = failure instanceof SnapshotExistsError ? failure : null;
    if (exists !== null && lost === null && options.ifExists !== 'confirm') {
      const known = sources.every(({ key }) => publication.seen[key] !== undefined);
      exists.computedManifestSha256 = known ? ((await expectedManifest(publication))?.sha256 ?? null) : null;
      throw exists;
    }
    if (mayBeStored) lost = failure;
    if (exists !== null || lost !== null) {
      const proven = await storedSnapshot(publication, exists, lost);
      if (proven !== null) {
        return { ...proven, outcome: 'confirmed', attempts: attempt, confirmedAfter: lost ?? failure };
      }
    }
    const again = mayBeStored || exists !== null || isTransient(failure);
    const pause = again && (replayable || !started) ? pauseAfter(attempt, failure, policy) : null;
    if (pause === null) {
      throw lost === null ? failure : new OutcomeUnknownError(draft.snapshot.snapshot_id, { cause: failure });
    }
    await wait(pause, options.signal);
  }
}
