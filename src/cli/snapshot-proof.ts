/** Every byte of one stored snapshot, proven on as many threads as it has large arrays (PW-07.03). */
import { MANIFEST_FILE } from '../contract/package.ts';
import { join } from 'node:path';
import { StorageIntegrityError } from '../contract/errors.ts';
import { sha256Hex } from '../contract/digest.ts';
import type { SnapshotId } from '../contract/ids.ts';
import { parseManifest, type Manifest } from '../contract/manifest.ts';
import { SNAPSHOTS } from '../store/layout.ts';
import { nodeFileSystem } from '../store/node-file-system.ts';
import { readExactly, withFile } from '../store/stored-file.ts';
import type { LocalSnapshotStore } from '../store/local-snapshot-store.ts';

/** Below this one thread is done before the others have looked at the frame of the package again. */
const SPREAD_BYTES = 64n * 1024n * 1024n;

/** More arrays are small beside the frame that each of them proves again. */
const SPREAD_ARRAYS = 16;
/** A larger one is left to the proof itself. */
const MAX_PLAN_BYTES = 1024n * 1024n;

interface Plan {
  readonly manifest: Manifest;
  readonly manifestSha256: string;
}

/** Bytes of the proven arrays. Throws what `readManifest` of the store throws. */
export async function proveSnapshot(
  store: Pick<LocalSnapshotStore, 'readManifest' | 'openArray'>,
  root: string,
  id: SnapshotId,
  spreadBytes = SPREAD_BYTES,
): Promise<bigint> {
  const plan = planOf(root, id);
  const count = plan === null ? 0 : Object.keys(plan.manifest.arrays).length;
  if (plan === null || count < 2 || count > SPREAD_ARRAYS || bytesOf(plan.manifest) < spreadBytes) {
    return bytesOf((await store.readManifest(id)).manifest);
  }
  // Each of these proves marker, manifest, inventory and all lengths as well, so together they prove everything.
  const proofs = Object.keys(plan.manifest.arrays).map((key) =>
    proveArray(store, id, key, plan.manifestSha256),
  );
  // In the manifest's order, so that the same damage is told in the same words every time.
  for (const proof of await Promise.allSettled(proofs)) {
    if (proof.status === 'rejected') throw proof.reason;
  }
  return bytesOf(plan.manifest);
}

/** What the manifest says, unproven: only a plan of the work. Null where it cannot be read; the proof then says why. */
function planOf(root: string, id: SnapshotId): Plan | null {
  try {
    const path = join(root, SNAPSHOTS, id, MANIFEST_FILE);
    const bytes = withFile(nodeFileSystem, path, MANIFEST_FILE, 'manifest', (file, { size }) =>
      size > MAX_PLAN_BYTES ? null : readExactly(nodeFileSystem, file, MANIFEST_FILE, Number(size)),
    );
    if (bytes === null) return null;
    return { manifest: parseManifest(bytes), manifestSha256: sha256Hex(bytes) };
  } catch {
    return null;
  }
}

async function proveArray(
  store: Pick<LocalSnapshotStore, 'openArray'>,
  id: SnapshotId,
  key: string,
  manifestSha256: string,
): Promise<void> {
  const payload = await store.openArray(id, key, { deliver: false });
  await payload.close();
  if (payload.manifestSha256 === manifestSha256) return;
  throw new StorageIntegrityError(
    `Snapshot ${id} changed while it was being proven; published snapshots never do.`,
    {
      snapshot_id: id,
      problem: 'manifest',
      location: MANIFEST_FILE,
    },
  );
}

function bytesOf({ arrays }: Manifest): bigint {
  return Object.values(arrays).reduce((sum, entry) => sum + BigInt(entry.byte_length), 0n);
}
