/**
 * The proof of one package on disk (PW-07.03, PW-07.05): a fixed list of named steps, each of which throws the refusal
 * a reader gets. The same steps judge a published snapshot, a staged attempt before and after its marker, and the
 * parent of a new snapshot.
 */
import { SnapshotNotFoundError, StorageIntegrityError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';
import type { Manifest } from '../contract/manifest.ts';
import { INTENT_FILE, MANIFEST_FILE, MARKER_BYTES, MARKER_FILE } from '../contract/package.ts';
import { sameStamp, type DirectoryEntry, type FileSystemReader } from './file-system.ts';
import { isMissing, readAtMost, readExactly, readFailure, withFile } from './io.ts';
import {
  checkIntent,
  checkManifestLength,
  checkPresent,
  claimOf,
  intentLength,
  judgePackage,
  named,
  refuseIrregularEntries,
  type JudgeContext,
  type PayloadClaim,
  type Stage,
} from './package-checks.ts';
import {
  provePayload,
  SMALL_PAYLOAD_BYTES,
  statPayload,
  type KnownProofs,
  type PayloadProof,
  type Turn,
} from './payload-proof.ts';

/** What looking at a file costs, in bytes hashed meanwhile. */
const STAT_COST = 8 * 1024;

/** Payload bytes that are proven together with their frame; what goes beyond is worth a task of its own. */
const BESIDE_FRAME_BYTES = 8 * 1024 * 1024;

export interface PackageRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  readonly stage: Stage;
  /** Whose checksums are proven; lengths and the inventory always are. */
  readonly payloads: 'all' | 'none';
  readonly known?: KnownProofs;
  /** Whether large payloads will be read again, to be sent, and need the codes of their blocks for it. */
  readonly withMacs?: boolean;
}

/** Everything of a package but the payloads' checksums. */
export interface ProvenFrame {
  /** The exact stored bytes, proven canonical. */
  readonly manifestBytes: Uint8Array;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** Whether the optional `intent.json` lies in the package. */
  readonly hasIntent: boolean;
}

/** A payload whose checksum is still to be proven, with the state of its file. */
export interface UnprovenPayload {
  readonly claim: PayloadClaim;
  readonly stamp: PayloadProof;
}

export interface VerifiedPackage extends ProvenFrame {
  /** Of each payload whose checksum was proven, by file name. */
  readonly proofs: KnownProofs;
  /** Of those asked for; in the manifest's order. */
  readonly unproven: readonly UnprovenPayload[];
}

/** What a proof runs with, the same for all of one engine. */
export interface VerificationContext extends JudgeContext {
  readonly fs: FileSystemReader;
}

/**
 * Proves all of a package in the calling thread. Throws `SnapshotNotFoundError` where nothing has its name,
 * `StorageIntegrityError` naming the file and the kind of problem, `UnsupportedPackageError` for what this reader does
 * not support.
 */
export async function verifyPackage(
  context: VerificationContext,
  request: PackageRequest,
  turn: Turn,
): Promise<VerifiedPackage> {
  const { directory, snapshotId, withMacs = false } = request;
  const frame = await verifyFrame(context, request, turn);
  const claims = frame.unproven.map(({ claim }) => claim);
  const rest = await provePayloads(context.fs, { directory, snapshotId, claims, withMacs }, turn);
  return { ...frame, proofs: { ...frame.proofs, ...rest }, unproven: [] };
}

/**
 * Proves everything but the checksums of large payloads, which are left for tasks of their own: one for each can run in
 * another thread, and be shared. Throws what `verifyPackage` throws.
 */
export async function verifyFrame(
  context: VerificationContext,
  request: PackageRequest,
  turn: Turn,
): Promise<VerifiedPackage & { readonly manifest: Manifest }> {
  const { fs } = context;
  try {
    const entries = listPackage(fs, request);
    refuseIrregularEntries(entries);
    const present = new Set(entries.map((entry) => entry.name));
    const marker = request.stage === 'complete' ? readMarker(fs, request, present) : null;
    const manifestBytes = readManifest(fs, request, present);
    const found = { present, marker, manifestBytes };
    const { manifest, manifestSha256 } = judgePackage(context, request.snapshotId, found);
    const hasIntent = present.has(INTENT_FILE);
    if (hasIntent) checkIntent(readIntent(fs, request), request.snapshotId);
    const payloads = await checkPayloads(fs, request, manifest, turn);
    return { manifest, manifestBytes, manifestSha256, hasIntent, ...payloads };
  } catch (error) {
    throw named(error, request.snapshotId);
  }
}

export interface PayloadsRequest {
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  readonly claims: readonly PayloadClaim[];
  readonly withMacs: boolean;
}

/** Proves payloads of a package whose frame was proven, by file name. Throws the refusal of the first that does not hold. */
export async function provePayloads(
  fs: FileSystemReader,
  { directory, snapshotId, claims, withMacs }: PayloadsRequest,
  turn: Turn,
): Promise<KnownProofs> {
  const proofs: Record<string, PayloadProof> = {};
  try {
    for (const claim of claims)
      proofs[claim.file] = await provePayload(fs, { directory, claim, withMacs }, turn);
  } catch (error) {
    throw named(error, snapshotId);
  }
  return proofs;
}

/** Lengths of all, from their states; checksums of those asked for, while they are few bytes. */
async function checkPayloads(
  fs: FileSystemReader,
  { directory, payloads, known }: PackageRequest,
  manifest: Manifest,
  turn: Turn,
): Promise<{ readonly proofs: KnownProofs; readonly unproven: readonly UnprovenPayload[] }> {
  const proofs: Record<string, PayloadProof> = {};
  const unproven: UnprovenPayload[] = [];
  let beside = 0;
  for (const entry of Object.values(manifest.arrays)) {
    const claim = claimOf(entry);
    const { file } = claim;
    const size = Number(claim.byte_length);
    const before = payloads === 'all' ? known?.[file] : undefined;
    const small = size <= SMALL_PAYLOAD_BYTES && beside + size <= BESIDE_FRAME_BYTES;
    if (payloads === 'all' && small && before === undefined) {
      beside += size;
      proofs[file] = await provePayload(fs, { directory, claim }, turn);
      continue;
    }
    const stamp = statPayload(fs, directory, claim);
    if (turn.spend(STAT_COST)) await turn.giveWay();
    if (payloads === 'none') continue;
    if (before !== undefined && sameStamp(before, stamp)) proofs[file] = before;
    else unproven.push({ claim, stamp });
  }
  return { proofs, unproven };
}

function readMarker(fs: FileSystemReader, request: PackageRequest, present: ReadonlySet<string>): Uint8Array {
  checkPresent(present, MARKER_FILE);
  return withFile(fs, `${request.directory}/${MARKER_FILE}`, MARKER_FILE, 'marker', (file) =>
    readAtMost(fs, file, MARKER_BYTES),
  );
}

function readManifest(
  fs: FileSystemReader,
  request: PackageRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  checkPresent(present, MANIFEST_FILE);
  return withFile(fs, `${request.directory}/${MANIFEST_FILE}`, MANIFEST_FILE, 'manifest', (file, stat) => {
    checkManifestLength(stat.size);
    return readExactly(fs, file, MANIFEST_FILE, Number(stat.size));
  });
}

/** One byte more than the right one has, so that a longer one is not taken for it. */
function readIntent(fs: FileSystemReader, { directory, snapshotId }: PackageRequest): Uint8Array {
  return withFile(fs, `${directory}/${INTENT_FILE}`, INTENT_FILE, 'intent', (file) =>
    readAtMost(fs, file, intentLength(snapshotId)),
  );
}

function listPackage(fs: FileSystemReader, request: PackageRequest): DirectoryEntry[] {
  try {
    const { kind } = fs.statEntry(request.directory);
    if (kind !== 'directory') {
      throw new StorageIntegrityError(`The package must be a real directory, found a ${kind}.`, {
        problem: 'package',
      });
    }
    return fs.listDirectory(request.directory);
  } catch (error) {
    if (isMissing(error)) throw new SnapshotNotFoundError(request.snapshotId);
    throw readFailure(error, 'The package directory', 'package');
  }
}
