/** Step 1 of PW-07.04: what refuses a publication before anything is made, and again right before the rename. */
import { resolveContext, type Declarations } from '../contract/contexts.ts';
import { isAnySnapshotError, isSnapshotError, SnapshotError } from '../contract/errors.ts';
import type { DraftManifest } from '../contract/manifest.ts';
import type { BlockPool } from './block-pool.ts';
import type { DirectorySyncs } from './directory-syncs.ts';
import type { FileSystem } from './file-system.ts';
import { checkArrayCount, type StoreLimits } from './incoming-payloads.ts';
import { isMissing } from './io-errors.ts';
import { snapshotDirectory, snapshotLocation, type Layout } from './layout.ts';
import type { Prover } from './prover.ts';
import { publicationFailure } from './publication-errors.ts';
import type { StoreIdentity } from './root.ts';
import type { SpaceReserve } from './space-reserve.ts';

export interface PublicationContext {
  readonly fs: FileSystem;
  readonly layout: Layout;
  readonly identity: StoreIdentity;
  readonly declarations: Declarations;
  readonly prover: Prover;
  /** Proves in the calling thread. */
  readonly nearProver: Prover;
  readonly blocks: BlockPool;
  readonly directorySyncs: DirectorySyncs;
  readonly limits: StoreLimits;
  readonly space: SpaceReserve;
}

/** Step 1: everything that can be refused before anything is made. */
export async function refuseBeforeStaging(context: PublicationContext, draft: DraftManifest): Promise<void> {
  const { snapshot_id: id, parent_id: parentId } = draft.snapshot;
  checkArrayCount(draft, context.limits);
  resolveContext(context.declarations, draft.snapshot.fingerprint);
  context.identity.check();
  try {
    await refuseExisting(context, id);
    if (parentId !== null) await proveParent(context, parentId);
    await context.space.check(0);
  } catch (error) {
    context.identity.check();
    // A parent that cannot be read is no fault of the document that names it.
    if (isAnySnapshotError(error) && error.code !== 'storage_integrity') throw error;
    throw publicationFailure(error, id, 'validation of the request');
  }
}

/** Anything under the id counts: a package, an empty directory, a file, a link (PW-07.04). */
export async function refuseExisting(context: PublicationContext, id: string): Promise<void> {
  try {
    context.fs.statEntry(snapshotDirectory(context.layout, id));
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw await existing(context, id);
}

/** The refusal for an id that is taken, with the stored manifest's digest where it can be read. */
export async function existing(
  context: PublicationContext,
  id: string,
): Promise<SnapshotError<'snapshot_exists'>> {
  const directory = snapshotDirectory(context.layout, id);
  const location = snapshotLocation(id);
  let digest: { manifest_sha256: string } | undefined;
  let state = 'It is not a readable package: inspect it.';
  try {
    const input = { directory, snapshotId: id, stage: 'complete', payloads: 'none' } as const;
    const { manifestSha256 } = await context.prover.run('verify', input);
    digest = { manifest_sha256: manifestSha256 };
    state = 'If its manifest_sha256 is that of your manifest, it is the same manifest.';
  } catch {
    // The refusal holds whatever lies there; its digest is a help, not a condition.
  }
  return new SnapshotError(
    'snapshot_exists',
    `${location} exists already and is never overwritten. ${state}`,
    { snapshot_id: id, location, ...digest },
  );
}

/** A parent must be published and valid when its child is published (PW-07.01). */
async function proveParent(context: PublicationContext, parentId: string): Promise<void> {
  const directory = snapshotDirectory(context.layout, parentId);
  try {
    await context.prover.run('verify', {
      directory,
      snapshotId: parentId,
      stage: 'complete',
      payloads: 'all',
    });
  } catch (cause) {
    if (!isAnySnapshotError(cause) || cause.code === 'unavailable' || isUnreadable(cause)) throw cause;
    throw new SnapshotError(
      'parent_not_complete',
      `The parent ${parentId} is not a published, valid snapshot of this store. ${cause.message}`,
      {
        parent_id: parentId,
        errors: [{ path: 'snapshot.parent_id', message: 'must name a published, valid snapshot' }],
      },
      { cause },
    );
  }
}

function isUnreadable(error: SnapshotError): boolean {
  return isSnapshotError(error, 'storage_integrity') && error.details.problem === 'unreadable';
}
