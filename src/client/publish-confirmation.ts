/** Whether the snapshot that is stored is the one that was to be published: decided by digests, never by its name. */
import { OutcomeUnknownError, SnapshotClientError } from './errors.ts';
import { refusedLocally, SnapshotNotFoundError, type SnapshotExistsError } from './problem-errors.ts';
import { fetchManifest, type ProvenManifest } from './proven-manifest.ts';
import { expectedManifest, isTransient, type Publication } from './publication.ts';

/**
 * The stored snapshot if it is proven to be the one of this publication; null if there is none, or nobody can say yet.
 * `exists` is the service's word that the id is taken, `lost` the failure since which it may be by this publication.
 *
 * @throws SnapshotExistsError if something else is stored under the id
 * @throws OutcomeUnknownError if what is stored cannot be proven
 */
export async function storedSnapshot(
  publication: Publication,
  exists: SnapshotExistsError | null,
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
    409,
    'The snapshot exists',
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
    if (cause instanceof SnapshotNotFoundError) return null;
    if (!(cause instanceof SnapshotClientError)) throw cause;
    if (isTransient(cause)) return null;
    throw lost === null ? cause : new OutcomeUnknownError(id, { cause });
  }
}
