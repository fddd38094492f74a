/**
 * What has to hold of a package, wherever it lies (PW-07.03, PW-07.05): each rule by itself, judged from names, lengths and
 * bytes that somebody else has read. Each throws the refusal that a reader gets.
 */
import { checkDeclared, type Declarations } from '../contract/contexts.ts';
import { sha256Hex } from '../contract/digest.ts';
import { StorageIntegrityError, UnsupportedPackageError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';
import { parseManifest, type ArrayEntry, type Manifest } from '../contract/manifest.ts';
import {
  arrayKeyOfFileName,
  INTENT_FILE,
  intentBytes,
  MANIFEST_FILE,
  MARKER_FILE,
  markerBytes,
} from '../contract/package.ts';
import type { ByteBoundedCache } from './byte-bounded-cache.ts';

/** Above this a stored manifest is refused instead of read into memory; far above what publishing can make. */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** `staged` is an attempt before its marker: everything else must hold. */
export type Stage = 'complete' | 'staged';

/** Something in a package, by its name there. */
export interface PackageEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
}

/** What of a payload is needed to prove it. */
export interface PayloadClaim {
  readonly file: string;
  /** Decimal uint64. */
  readonly byte_length: string;
  /** 64 lowercase hex. */
  readonly sha256: string;
}

/** No links, no sub-directories, no devices: judged from the listing, before anything is opened. */
export function refuseIrregularEntries(entries: readonly PackageEntry[]): void {
  const irregular = entries.filter((entry) => entry.kind !== 'file');
  if (irregular.length === 0) return;
  throw new StorageIntegrityError(
    `Only regular files may lie in a package, found ${irregular.map((e) => `${quoted(e.name)} (${e.kind})`).join(', ')}.`,
    { problem: 'inventory', ...onlyLocation(irregular.map((entry) => entry.name)) },
  );
}

/** Throws where no such file is in the package. */
export function checkPresent(present: ReadonlySet<string>, file: string): void {
  if (!present.has(file)) throw missingFile(file);
}

export function missingFile(file: string): StorageIntegrityError {
  const problem = file === MARKER_FILE ? 'marker' : file === MANIFEST_FILE ? 'manifest' : 'inventory';
  return new StorageIntegrityError(`${file} is missing.`, { problem, location: file });
}

export function checkManifestLength(byteLength: number | bigint): void {
  if (byteLength <= MAX_MANIFEST_BYTES) return;
  throw new StorageIntegrityError(
    `${MANIFEST_FILE} is ${byteLength} bytes long; at most ${MAX_MANIFEST_BYTES} are read.`,
    { problem: 'manifest', location: MANIFEST_FILE },
  );
}

/** What judging runs with, the same for all of one store. */
export interface JudgeContext {
  readonly declarations: Declarations;
  /** The judgement of a manifest depends on its bytes alone, so it is remembered by their SHA-256. */
  readonly judged: ByteBoundedCache<string, Manifest>;
}

/** What was found of a package: the names of its files, its manifest, and its marker where it has one yet. */
export interface FoundPackage {
  readonly present: ReadonlySet<string>;
  /** Null of an attempt before its marker. */
  readonly marker: Uint8Array | null;
  readonly manifestBytes: Uint8Array;
}

/** Marker, canonical manifest, identity, declarations and inventory, in this order; lengths and checksums are not in here. */
export function judgePackage(
  { declarations, judged }: JudgeContext,
  snapshotId: SnapshotId,
  { present, marker, manifestBytes }: FoundPackage,
): { readonly manifest: Manifest; readonly manifestSha256: string } {
  const manifestSha256 = sha256Hex(manifestBytes);
  if (marker !== null) checkMarker(marker, manifestSha256);
  const manifest = judge(judged, manifestBytes, manifestSha256);
  checkIdentity(manifest, snapshotId);
  checkDeclared(declarations, manifest.snapshot.fingerprint, snapshotId);
  checkInventory(manifest, present, marker === null ? 'staged' : 'complete');
  return { manifest, manifestSha256 };
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

function checkIdentity(manifest: Manifest, snapshotId: SnapshotId): void {
  const actual = manifest.snapshot.snapshot_id;
  if (actual === snapshotId) return;
  throw new StorageIntegrityError(`${MANIFEST_FILE} names another snapshot than the one it is stored for.`, {
    problem: 'manifest',
    location: MANIFEST_FILE,
    expected: snapshotId,
    actual,
  });
}

/** Exactly the manifest, the marker, the listed arrays and optionally the intent (PW-07.03). */
function checkInventory(manifest: Manifest, present: ReadonlySet<string>, stage: Stage): void {
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

/** Bytes of the intent of any snapshot. */
export function intentLength(snapshotId: SnapshotId): number {
  return intentBytes(snapshotId).length;
}

export function checkIntent(actual: Uint8Array, snapshotId: SnapshotId): void {
  const expected = Buffer.from(intentBytes(snapshotId));
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

export function claimOf({ file, byte_length, sha256 }: ArrayEntry): PayloadClaim {
  return { file, byte_length, sha256 };
}

/** Throws `length` unless the file is as long as its manifest says; needs no read. */
export function checkLength(
  { file, byte_length }: Pick<PayloadClaim, 'file' | 'byte_length'>,
  size: bigint,
): void {
  const expected = BigInt(byte_length);
  if (size !== expected) throw lengthMismatch(file, expected, size);
}

export function lengthMismatch(
  name: string,
  expected: bigint,
  actual: bigint | 'more',
): StorageIntegrityError {
  const found = actual === 'more' ? 'more than that' : `${actual} bytes`;
  return new StorageIntegrityError(`${name} must be ${expected} bytes long, found ${found}.`, {
    problem: 'length',
    location: name,
    expected: String(expected),
    actual: String(actual),
  });
}

/** Throws `checksum` unless the SHA-256 of the stored bytes is the one the manifest claims. */
export function checkDigest(claim: PayloadClaim, actual: string): void {
  if (actual === claim.sha256) return;
  throw new StorageIntegrityError(
    `The stored bytes of ${claim.file} do not have the SHA-256 its manifest claims.`,
    { problem: 'checksum', location: claim.file, expected: claim.sha256, actual },
  );
}

export function changedWhileRead(name: string): StorageIntegrityError {
  return new StorageIntegrityError(`${name} changed while it was being read.`, {
    problem: 'checksum',
    location: name,
  });
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
