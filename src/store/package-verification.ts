/**
 * The proof of one package on disk (PW-07.03, PW-07.05): a fixed list of named steps, each of which throws the refusal
 * a reader gets. The same steps judge a published snapshot, a staged attempt before and after its marker, and the
 * parent of a new snapshot.
 */
import { hash } from 'node:crypto';
import { checkDeclared, type Declarations } from '../contract/contexts.ts';
import { markerBytes, sha256Hex } from '../contract/digest.ts';
import {
  SnapshotError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  UnsupportedPackageError,
} from '../contract/errors.ts';
import { arrayKeyOfFileName, type ArrayKey, type SnapshotId } from '../contract/ids.ts';
import { parseManifest, type ArrayEntry, type Manifest } from '../contract/manifest.ts';
import {
  sameStamp,
  type Descriptor,
  type DirectoryEntry,
  type FileStamp,
  type FileSystemReader,
} from './file-system.ts';
import { isMissing } from './io-errors.ts';
import { intentBytes, INTENT_FILE, MANIFEST_FILE, MARKER_FILE, payloadPath } from './layout.ts';
import {
  closingAfter,
  hashOpenFile,
  lengthMismatch,
  readAtMost,
  readExactly,
  readFailure,
  withFile,
} from './stored-file.ts';

/** Above this a stored manifest is refused instead of read into memory; far above what publishing can make. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const MARKER_BYTES = 65;
/** Files up to this size are read once and hashed from memory; larger ones are hashed block by block. */
export const SMALL_FILE_BYTES = 1024 * 1024;

/** States in which files were proven before, by file name; a file in the same state is not hashed again. */
export type KnownProofs = Readonly<Record<string, FileStamp>>;

export interface VerificationRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  readonly declarations: Declarations;
  /** `staged` is an attempt before its marker: everything else must hold. */
  readonly stage: 'complete' | 'staged';
  /** Whose checksums are proven; lengths and the inventory always are. */
  readonly payloads: 'all' | 'none' | { readonly key: ArrayKey };
  readonly known?: KnownProofs;
}

export interface VerifiedPackage {
  readonly manifest: Manifest;
  /** The exact stored bytes, proven canonical. */
  readonly manifestBytes: Uint8Array;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** The state of each payload whose checksum was proven. */
  readonly stamps: KnownProofs;
  /** Whether the optional `intent.json` lies in the package. */
  readonly hasIntent: boolean;
}

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

function listPackage(fs: FileSystemReader, request: VerificationRequest): DirectoryEntry[] {
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

function readMarker(
  fs: FileSystemReader,
  request: VerificationRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  if (!present.has(MARKER_FILE)) throw missing(MARKER_FILE, 'marker');
  return withFile(fs, `${request.directory}/${MARKER_FILE}`, MARKER_FILE, 'marker', (file) =>
    readAtMost(fs, file, MARKER_BYTES),
  );
}

function readManifest(
  fs: FileSystemReader,
  request: VerificationRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  if (!present.has(MANIFEST_FILE)) throw missing(MANIFEST_FILE, 'manifest');
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

/**
 * The judgement of a manifest depends on its bytes alone, so it is remembered by their SHA-256. The bytes themselves
 * are read and hashed every time.
 */
const judged = new Map<string, Manifest>();
const JUDGED_MANIFESTS = 512;
const JUDGED_MANIFEST_BYTES = 64 * 1024;

function judgeManifest(bytes: Uint8Array, sha256: string): Manifest {
  const before = judged.get(sha256);
  if (before !== undefined) return before;
  const manifest = parseManifest(bytes);
  if (bytes.length <= JUDGED_MANIFEST_BYTES) {
    if (judged.size >= JUDGED_MANIFESTS) {
      const [oldest] = judged.keys();
      if (oldest !== undefined) judged.delete(oldest);
    }
    judged.set(sha256, manifest);
  }
  return manifest;
}

function checkIdentity(manifest: Manifest, request: VerificationRequest): void {
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
  stage: VerificationRequest['stage'],
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

function checkIntent(fs: FileSystemReader, request: VerificationRequest): void {
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

async function checkPayloads(
  fs: FileSystemReader,
  request: VerificationRequest,
  manifest: Manifest,
): Promise<KnownProofs> {
  const { payloads } = request;
  if (typeof payloads === 'object' && !Object.hasOwn(manifest.arrays, payloads.key)) {
    throw new SnapshotError(
      'array_not_found',
      `Snapshot ${request.snapshotId} has no array ${payloads.key}.`,
      { snapshot_id: request.snapshotId, array: payloads.key },
    );
  }
  const stamps: Record<string, FileStamp> = {};
  for (const [key, entry] of Object.entries(manifest.arrays)) {
    if (payloads === 'all' || (typeof payloads === 'object' && payloads.key === key)) {
      stamps[entry.file] = await provePayload(fs, request, key, entry);
    } else {
      checkLength(entry, statPayload(fs, request.directory, key, entry));
    }
  }
  return stamps;
}

function statPayload(fs: FileSystemReader, directory: string, key: ArrayKey, entry: ArrayEntry): FileStamp {
  try {
    return fs.statEntry(payloadPath(directory, key));
  } catch (error) {
    throw readFailure(error, entry.file, 'inventory');
  }
}

/** Throws `length` unless the file is as long as its manifest says; needs no read. */
export function checkLength(entry: Pick<ArrayEntry, 'file' | 'byte_length'>, stamp: FileStamp): void {
  const expected = BigInt(entry.byte_length);
  if (stamp.size !== expected) throw lengthMismatch(entry.file, expected, stamp.size);
}

async function provePayload(
  fs: FileSystemReader,
  request: VerificationRequest,
  key: ArrayKey,
  entry: ArrayEntry,
): Promise<FileStamp> {
  const path = payloadPath(request.directory, key);
  const known = request.known?.[entry.file];
  let file: Descriptor;
  try {
    file = fs.openForReading(path);
  } catch (error) {
    throw readFailure(error, entry.file, 'inventory');
  }
  return closingAfter(fs, file, entry.file, async () => {
    const stamp = fs.statOpen(file);
    checkLength(entry, stamp);
    if (known !== undefined && sameStamp(known, stamp)) return known;
    checkDigest(entry, await hashPayload(fs, file, entry));
    return stamp;
  });
}

async function hashPayload(fs: FileSystemReader, file: Descriptor, entry: ArrayEntry): Promise<string> {
  const size = Number(entry.byte_length);
  if (size <= SMALL_FILE_BYTES) return hash('sha256', readExactly(fs, file, entry.file, size));
  return hashOpenFile(fs, file, entry.file, size);
}

/** Throws `checksum` unless the SHA-256 of the stored bytes is the one the manifest claims. */
export function checkDigest(entry: Pick<ArrayEntry, 'file' | 'sha256'>, actual: string): void {
  if (actual === entry.sha256) return;
  throw new StorageIntegrityError(
    `The stored bytes of ${entry.file} do not have the SHA-256 its manifest claims.`,
    {
      problem: 'checksum',
      location: entry.file,
      expected: entry.sha256,
      actual,
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

function missing(name: string, problem: 'marker' | 'manifest'): StorageIntegrityError {
  return new StorageIntegrityError(`${name} is missing.`, { problem, location: name });
}

/** Foreign file names are shown escaped and short: they may hold anything. */
export function quoted(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short);
}

function onlyLocation(names: readonly string[]): { location?: string } {
  const [name] = names;
  return names.length === 1 && name !== undefined && arrayKeyOfFileName(name) !== null
    ? { location: name }
    : {};
}

export function lengthChanged(file: string): StorageIntegrityError {
  return new StorageIntegrityError(`${file} became shorter while it was being read.`, {
    problem: 'length',
    location: file,
  });
}
