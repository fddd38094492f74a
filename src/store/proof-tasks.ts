/** The units of proving work: plain data in, plain data out, so that one may run in any thread of the process. */
import { hash } from 'node:crypto';
import type { Declarations } from '../contract/contexts.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { DraftManifest } from '../contract/manifest.ts';
import type { BlockMacs } from './block-macs.ts';
import { readDraft } from './draft-reading.ts';
import { checkLength, checkDigest, proveLarge, SMALL_FILE_BYTES } from './payload-verification.ts';
import { named } from './integrity.ts';
import { verifyPackage } from './package-verification.ts';
import type { KnownProofs, PayloadProof } from './verification-request.ts';
import { sameStamp, type Descriptor, type FileStamp, type FileSystemReader } from './file-system.ts';
import type { IncompleteAttempt } from '../contract/listings.ts';
import { inspectAttempt } from './attempt-inspection.ts';
import { measureStaging, type StagingMeasure } from './staging-measure.ts';
import { payloadPath } from './layout.ts';
import { closeAfterFailure, closeRead, openRegularFile, readExactly, readFailure } from './stored-file.ts';

/** What of a payload is needed to prove it. */
export interface PayloadClaim {
  readonly file: string;
  /** Decimal uint64. */
  readonly byte_length: string;
  /** 64 lowercase hex. */
  readonly sha256: string;
}

interface PackageTask {
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  readonly known?: KnownProofs;
  readonly withMacs?: boolean;
}

interface TaskTypes {
  /** Prove a package; `payloads` says whose checksums. */
  verify: {
    input: PackageTask & { readonly stage: 'complete' | 'staged'; readonly payloads: 'all' | 'none' };
    output: ProvenManifest;
  };
  /** Prove a package's frame and one array; hand over its bytes (small) or its open descriptor (large). */
  openPayload: {
    input: PackageTask & { readonly key: ArrayKey; readonly deliver: boolean };
    output: OpenedPayload;
  };
  /** Judge attempts without changing anything (PW-07.04). */
  inspect: {
    input: { readonly staging: string; readonly names: readonly string[] };
    output: readonly IncompleteAttempt[];
  };
  /** Read and check a metadata document (PW-07.01). */
  draft: {
    input: { readonly bytes: Uint8Array; readonly maxValues: number };
    output: DraftManifest;
  };
  /** Number and bytes of the entries in staging, from their names and sizes alone. */
  measure: {
    input: { readonly staging: string };
    output: StagingMeasure;
  };
}

export type TaskKind = keyof TaskTypes;
export type TaskInput<K extends TaskKind> = TaskTypes[K]['input'];
export type TaskOutput<K extends TaskKind> = TaskTypes[K]['output'];

export interface ProvenManifest {
  readonly manifestBytes: Uint8Array;
  readonly manifestSha256: string;
  readonly stamps: KnownProofs;
  readonly hasIntent: boolean;
}

export interface OpenedPayload extends ProvenManifest {
  readonly stamp: FileStamp;
  /** All bytes of a small payload, exactly as they were hashed. */
  readonly bytes: Uint8Array | null;
  /** Of a large payload, still open: whoever gets it must close it. */
  readonly descriptor: Descriptor | null;
  /** Of a large payload whose checksum was proven for this read. */
  readonly macs: BlockMacs | null;
}

type Runners = {
  readonly [K in TaskKind]: (
    fs: FileSystemReader,
    declarations: Declarations,
    input: TaskInput<K>,
  ) => Promise<TaskOutput<K>>;
};

const RUNNERS: Runners = {
  draft: async (_fs, _declarations, { bytes, maxValues }) => {
    await Promise.resolve();
    return readDraft(bytes, maxValues);
  },
  verify: async (fs, declarations, input) => {
    const proof = await verifyPackage(fs, { ...input, declarations });
    return {
      manifestBytes: owned(proof.manifestBytes),
      manifestSha256: proof.manifestSha256,
      stamps: proof.stamps,
      hasIntent: proof.hasIntent,
    };
  },
  openPayload,
  inspect: async (fs, declarations, { staging, names }) => {
    const found: IncompleteAttempt[] = [];
    for (const name of names) {
      const attempt = await inspectAttempt(fs, declarations, staging, name);
      if (attempt !== null) found.push(attempt);
    }
    return found;
  },
  measure: (fs, _declarations, { staging }) => Promise.resolve(measureStaging(fs, staging)),
};

export function runTask<K extends TaskKind>(
  fs: FileSystemReader,
  declarations: Declarations,
  kind: K,
  input: TaskInput<K>,
): Promise<TaskOutput<K>> {
  return RUNNERS[kind](fs, declarations, input);
}

async function openPayload(
  fs: FileSystemReader,
  declarations: Declarations,
  input: TaskInput<'openPayload'>,
): Promise<OpenedPayload> {
  const frame = await verifyPackage(fs, { ...input, declarations, stage: 'complete', payloads: 'none' });
  const entry = frame.manifest.arrays[input.key];
  if (entry === undefined) {
    // Raises array_not_found with the wording all other reads use.
    await verifyPackage(fs, { ...input, declarations, stage: 'complete', payloads: { key: input.key } });
    throw new Error('unreachable: a missing array is refused above');
  }
  try {
    const path = payloadPath(input.directory, input.key);
    const { stamp, bytes, descriptor, macs } = await proveForDelivery(fs, path, entry, input);
    return {
      manifestBytes: owned(frame.manifestBytes),
      manifestSha256: frame.manifestSha256,
      hasIntent: frame.hasIntent,
      stamps: { [entry.file]: stamp },
      stamp,
      bytes,
      descriptor,
      macs,
    };
  } catch (error) {
    throw named(error, input.snapshotId);
  }
}

/** Only a proven, large payload that somebody wants stays open. */
async function proveForDelivery(
  fs: FileSystemReader,
  path: string,
  claim: PayloadClaim,
  { deliver, known, withMacs }: TaskInput<'openPayload'>,
): Promise<Pick<OpenedPayload, 'stamp' | 'bytes' | 'descriptor' | 'macs'>> {
  const { file, stat } = openRegularFile(fs, path, claim.file);
  let bytes: Uint8Array | null = null;
  let macs: BlockMacs | null = null;
  try {
    checkLength(claim, stat);
    if (Number(claim.byte_length) <= SMALL_FILE_BYTES) bytes = proveSmall(fs, file, claim);
    else macs = (await proveOpen(fs, file, stat, claim, known?.[claim.file], withMacs === true)).macs ?? null;
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, claim.file, 'inventory');
  }
  const stamp = plainStamp(stat);
  if (deliver && bytes === null) return { stamp, bytes: null, descriptor: file, macs };
  closeRead(fs, file, claim.file);
  return { stamp, bytes: deliver ? bytes : null, descriptor: null, macs: null };
}

/** Whatever was proven before: these are the bytes that leave, so it is these that are proven. */
function proveSmall(fs: FileSystemReader, file: Descriptor, claim: PayloadClaim): Uint8Array {
  const bytes = readExactly(fs, file, claim.file, Number(claim.byte_length));
  checkDigest(claim, hash('sha256', bytes));
  return bytes;
}

async function proveOpen(
  fs: FileSystemReader,
  file: Descriptor,
  stamp: FileStamp,
  claim: PayloadClaim,
  known: PayloadProof | undefined,
  withMacs: boolean,
): Promise<PayloadProof> {
  if (known !== undefined && sameStamp(known, stamp)) return known;
  return proveLarge(fs, file, stamp, claim, withMacs);
}

function plainStamp(stamp: FileStamp): FileStamp {
  const { dev, ino, size, mtimeNs, ctimeNs } = stamp;
  return { dev, ino, size, mtimeNs, ctimeNs };
}

/** Between threads a view travels with all of its memory, and small buffers are cut from a large shared one. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.length + 1 >= bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
