/**
 * The proof of one package on disk (PW-07.03, PW-07.05): a fixed list of named steps, each of which throws the refusal
 * a reader gets. The same steps judge a published snapshot, a staged attempt before and after its marker, and the
 * parent of a new snapshot.
 */
import { INTENT_FILE } from '../contract/package.ts';
import { checkDeclared } from '../contract/contexts.ts';
import { sha256Hex } from '../contract/digest.ts';
import type { FileSystemReader } from './file-system.ts';
import { named } from './integrity.ts';
import {
  checkIdentity,
  checkIntent,
  checkInventory,
  listPackage,
  refuseIrregularEntries,
} from './package-frame.ts';
import { checkPayloads } from './payload-verification.ts';
import { checkMarker, judgeManifest, readManifest, readMarker } from './stored-manifest.ts';
import type { VerificationRequest, VerifiedPackage } from './verification-request.ts';

/**
 * Proves a package. Throws `SnapshotNotFoundError` where nothing has its name, `StorageIntegrityError` naming the file
 * and the kind of problem, `UnsupportedPackageError` for what this reader does not support.
 */
export async function verifyPackage(
  fs: FileSystemReader,
  request: VerificationRequest,
): Promise<VerifiedPackage> {
  try {
    return await prove(fs, request);
  } catch (error) {
    throw named(error, request.snapshotId);
  }
}

async function prove(fs: FileSystemReader, request: VerificationRequest): Promise<VerifiedPackage> {
  const entries = listPackage(fs, request);
  refuseIrregularEntries(entries);
  const present = new Set(entries.map((entry) => entry.name));
  const marker = request.stage === 'complete' ? readMarker(fs, request, present) : null;
  const manifestBytes = readManifest(fs, request, present);
  const manifestSha256 = sha256Hex(manifestBytes);
  if (marker !== null) checkMarker(marker, manifestSha256);
  const manifest = judgeManifest(manifestBytes, manifestSha256);
  checkIdentity(manifest, request);
  checkDeclared(request.declarations, manifest.snapshot.fingerprint, request.snapshotId);
  checkInventory(manifest, present, request.stage);
  const hasIntent = present.has(INTENT_FILE);
  if (hasIntent) checkIntent(fs, request);
  const stamps = await checkPayloads(fs, request, manifest);
  return { manifest, manifestBytes, manifestSha256, stamps, hasIntent };
}
