/** The payloads of a package: lengths always, checksums of those asked for (PW-07.02, PW-07.03). */
import { hash } from 'node:crypto';
import { SnapshotError, StorageIntegrityError } from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import type { ArrayEntry, Manifest } from '../contract/manifest.ts';
import { BlockMacsBuilder } from './block-macs.ts';
import { sameStamp, type Descriptor, type FileStamp, type FileSystemReader } from './file-system.ts';
import { payloadPath } from './layout.ts';
import { closingAfter, hashOpenFile, lengthMismatch, readExactly, readFailure } from './stored-file.ts';
import type { KnownProofs, PayloadProof, VerificationRequest } from './verification-request.ts';

/** Files up to this size are read once and hashed from memory; larger ones are hashed block by block. */
export const SMALL_FILE_BYTES = 1024 * 1024;

export async function checkPayloads(
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
  const stamps: Record<string, PayloadProof> = {};
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
): Promise<PayloadProof> {
  const path = payloadPath(request.directory, key);
  const known = request.known?.[entry.file];
  if (known !== undefined) {
    const stamp = statPayload(fs, request.directory, key, entry);
    if (sameStamp(known, stamp)) return known;
  }
  let file: Descriptor;
  try {
    file = fs.openForReading(path);
  } catch (error) {
    throw readFailure(error, entry.file, 'inventory');
  }
  return closingAfter(fs, file, entry.file, async () => {
    const stamp = fs.statOpen(file);
    checkLength(entry, stamp);
    const size = Number(entry.byte_length);
    if (size > SMALL_FILE_BYTES) return proveLarge(fs, file, stamp, entry, request.withMacs === true);
    checkDigest(entry, hash('sha256', readExactly(fs, file, entry.file, size)));
    return stamp;
  });
}

/** Hashes an open payload block by block, with the codes of its blocks where it will be read again. */
export async function proveLarge(
  fs: FileSystemReader,
  file: Descriptor,
  stamp: FileStamp,
  claim: Pick<ArrayEntry, 'file' | 'byte_length' | 'sha256'>,
  withMacs: boolean,
): Promise<PayloadProof> {
  const size = Number(claim.byte_length);
  if (!withMacs) {
    checkDigest(claim, await hashOpenFile(fs, file, claim.file, size));
    return stamp;
  }
  const macs = new BlockMacsBuilder(size);
  const actual = await hashOpenFile(fs, file, claim.file, size, (block) => {
    macs.add(block);
  });
  checkDigest(claim, actual);
  return { ...stamp, macs: macs.build() };
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
