/**
 * The proof of one package on disk (PW-07.03, PW-07.05): a fixed list of named steps, each of which throws the refusal
 * a reader gets. The same steps judge a published snapshot, a staged attempt before and after its marker, and the
 * parent of a new snapshot.
 */
import { checkDeclared, type Declarations } from '../contract/contexts.ts';
import { sha256Hex } from '../contract/digest.ts';
import { SnapshotNotFoundError, StorageIntegrityError, UnsupportedPackageError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';
import { parseManifest, type Manifest } from '../contract/manifest.ts';
import {
  arrayKeyOfFileName,
  INTENT_FILE,
  intentBytes,
  MANIFEST_FILE,
  MARKER_FILE,
  markerBytes,
} from '../contract/package.ts';
import type { ByteBoundedCache } from './byte-bounded-cache.ts';
import { sameStamp, type DirectoryEntry, type FileSystemReader } from './file-system.ts';
import { isMissing, readAtMost, readExactly, readFailure, withFile } from './io.ts';
import {
  provePayload,
  SMALL_PAYLOAD_BYTES,
  statPayload,
  type KnownProofs,
  type PayloadClaim,
  type PayloadProof,
  type Turn,
} from './payload-proof.ts';

/** Above this a stored manifest is refused instead of read into memory; far above what publishing can make. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const MARKER_BYTES = 65;
/** What looking at a file costs, in bytes hashed meanwhile. */
const STAT_COST = 8 * 1024;

/** Payload bytes that are proven together with their frame; what goes beyond is worth a task of its own. */
const BESIDE_FRAME_BYTES = 8 * 1024 * 1024;

export interface PackageRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  /** `staged` is an attempt before its marker: everything else must hold. */
  readonly stage: 'complete' | 'staged';
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
export interface VerificationContext {
  readonly fs: FileSystemReader;
  readonly declarations: Declarations;
  /** The judgement of a manifest depends on its bytes alone, so it is remembered by their SHA-256. */
  readonly judged: ByteBoundedCache<string, Manifest>;
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
    const manifestSha256 = sha256Hex(manifestBytes);
    if (marker !== null) checkMarker(marker, manifestSha256);
    const manifest = judge(context.judged, manifestBytes, manifestSha256);
    checkIdentity(manifest, request);
    checkDeclared(context.declarations, manifest.snapshot.fingerprint, request.snapshotId);
    checkInventory(manifest, present, request.stage);
    const hasIntent = present.has(INTENT_FILE);
    if (hasIntent) checkIntent(fs, request);
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

/** What a manifest costs in memory once it is read, in the bytes it is read from. */
const JUDGED_FACTOR = 4;

/** The bytes themselves are read and hashed every time. */
function judge(judged: ByteBoundedCache<string, Manifest>, bytes: Uint8Array, sha256: string): Manifest {
  const before = judged.get(sha256);
  if (before !== undefined) return before;
  const manifest = parseManifest(bytes);
  judged.set(sha256, manifest, bytes.length * JUDGED_FACTOR);
  return manifest;
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
  for (const { file, byte_length, sha256 } of Object.values(manifest.arrays)) {
    const claim = { file, byte_length, sha256 };
    const size = Number(byte_length);
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
  if (!present.has(MARKER_FILE)) throw missingFile(MARKER_FILE, 'marker');
  return withFile(fs, `${request.directory}/${MARKER_FILE}`, MARKER_FILE, 'marker', (file) =>
    readAtMost(fs, file, MARKER_BYTES),
  );
}

function readManifest(
  fs: FileSystemReader,
  request: PackageRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  if (!present.has(MANIFEST_FILE)) throw missingFile(MANIFEST_FILE, 'manifest');
  return withFile(fs, `${request.directory}/${MANIFEST_FILE}`, MANIFEST_FILE, 'manifest', (file, stat) => {
    if (stat.size > BigInt(MAX_MANIFEST_BYTES)) {
      throw new StorageIntegrityError(
        `${MANIFEST_FILE} is ${stat.size} bytes long; at most ${MAX_MANIFEST_BYTES} are read.`,
        { problem: 'manifest', location: MANIFEST_FILE },
      );
    }
    return readExactly(fs, file, MANIFEST_FILE, Number(stat.size));
  });
}

function checkMarker(marker: Uint8Array, manifestSha256: string): void {
  if (Buffer.from(markerBytes(manifestSha256)).equals(marker)) return;
  throw new StorageIntegrityError(
    `${MARKER_FILE} must hold the SHA-256 of the stored ${MANIFEST_FILE} as 64 lowercase hex digits and a newline.`,
    {
      problem: 'marker',
      location: MARKER_FILE,
      expected: manifestSha256,
      actual: Buffer.from(marker.subarray(0, 64))
        .toString('latin1')
        .replace(/[^\x20-\x7e]/gu, '?'),
    },
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

/** No links, no sub-directories, no devices: judged from the listing, before anything is opened. */
function refuseIrregularEntries(entries: readonly DirectoryEntry[]): void {
  const irregular = entries.filter((entry) => entry.kind !== 'file');
  if (irregular.length === 0) return;
  throw new StorageIntegrityError(
    `Only regular files may lie in a package, found ${irregular.map((e) => `${quoted(e.name)} (${e.kind})`).join(', ')}.`,
    { problem: 'inventory', ...onlyLocation(irregular.map((entry) => entry.name)) },
  );
}

function checkIdentity(manifest: Manifest, request: PackageRequest): void {
  const actual = manifest.snapshot.snapshot_id;
  if (actual === request.snapshotId) return;
  throw new StorageIntegrityError(`${MANIFEST_FILE} names another snapshot than the one it is stored for.`, {
    problem: 'manifest',
    location: MANIFEST_FILE,
    expected: request.snapshotId,
    actual,
  });
}

/** Exactly the manifest, the marker, the listed arrays and optionally the intent (PW-07.03). */
function checkInventory(
  manifest: Manifest,
  present: ReadonlySet<string>,
  stage: PackageRequest['stage'],
): void {
  const expected = new Set([MANIFEST_FILE, ...Object.values(manifest.arrays).map((entry) => entry.file)]);
  if (stage === 'complete') expected.add(MARKER_FILE);
  const lacking = [...expected].filter((name) => !present.has(name));
  const extra = [...present].filter((name) => !expected.has(name) && name !== INTENT_FILE);
  if (lacking.length === 0 && extra.length === 0) return;
  const found = [
    ...lacking.map((name) => `${quoted(name)} is missing`),
    ...extra.map((name) => `${quoted(name)} does not belong to it`),
  ];
  const more = found.length > 10 ? ` and ${found.length - 10} more` : '';
  throw new StorageIntegrityError(
    `The package must hold exactly its listed files: ${found.slice(0, 10).join(', ')}${more}.`,
    {
      problem: 'inventory',
      ...onlyLocation([...lacking, ...extra]),
    },
  );
}

function checkIntent(fs: FileSystemReader, request: PackageRequest): void {
  const expected = Buffer.from(intentBytes(request.snapshotId));
  const actual = withFile(fs, `${request.directory}/${INTENT_FILE}`, INTENT_FILE, 'intent', (file) =>
    readAtMost(fs, file, expected.length),
  );
  if (expected.equals(actual)) return;
  throw new StorageIntegrityError(
    `${INTENT_FILE} must name this snapshot in canonical JSON and nothing else.`,
    {
      problem: 'intent',
      location: INTENT_FILE,
      expected: expected.toString('utf8'),
    },
  );
}

/** Gives a refusal the id of the snapshot it is about. */
export function named(error: unknown, snapshotId: SnapshotId): unknown {
  if (error instanceof StorageIntegrityError && error.details.snapshot_id === undefined) {
    return new StorageIntegrityError(
      `Snapshot ${snapshotId} cannot be proven. ${error.message}`,
      { ...error.details, snapshot_id: snapshotId },
      { cause: error.cause ?? error },
    );
  }
  if (error instanceof UnsupportedPackageError && error.details.snapshot_id === undefined) {
    return new UnsupportedPackageError(
      `Snapshot ${snapshotId} cannot be read. ${error.message}`,
      { ...error.details, snapshot_id: snapshotId },
      { cause: error.cause ?? error },
    );
  }
  return error;
}

function missingFile(name: string, problem: 'marker' | 'manifest'): StorageIntegrityError {
  return new StorageIntegrityError(`${name} is missing.`, { problem, location: name });
}

/** Foreign file names are shown escaped and short: they may hold anything. */
export function quoted(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short);
}

/** A location is given where it is one array's file. */
function onlyLocation(names: readonly string[]): { location?: string } {
  const [name] = names;
  return names.length === 1 && name !== undefined && arrayKeyOfFileName(name) !== null
    ? { location: name }
    : {};
}
