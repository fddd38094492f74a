/** Arrays in memory, each proven against its SHA-256 before anyone sees it (PW-07.05). */
import { endianness } from 'node:os';
import { DTYPES, type Dtype, type IntegerArray } from '../contract/dtypes.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry } from '../contract/manifest.ts';
import type { ArrayInfo } from './array-info.ts';
import { streamArray } from './array-stream.ts';
import { swapBytes } from './byte-order.ts';
import { ChecksumMismatchError, ProtocolError } from './errors.ts';
import { fetchManifest, type ProvenManifest } from './proven-manifest.ts';
import type { Transport } from './transport.ts';

export interface OpenedSnapshot extends ProvenManifest {
  readonly metadata: ProvenManifest['manifest']['snapshot'];
  /** By key, without a prototype: `constructor` is a legal key. The arrays are the caller's own. */
  readonly arrays: Readonly<Record<ArrayKey, IntegerArray>>;
}

/** Arrays fetched at once: enough to hide the latency of many small ones. */
const LANES = 4;

export async function openSnapshot(
  transport: Transport,
  id: SnapshotId,
  signal?: AbortSignal,
): Promise<OpenedSnapshot> {
  const proven = await fetchManifest(transport, id, signal);
  const entries = Object.entries(proven.manifest.arrays);
  const arrays = Object.create(null) as Record<ArrayKey, IntegerArray>;
  // In the manifest's order, whichever arrives first.
  for (const [key, { dtype }] of entries) arrays[key] = new DTYPES[dtype].arrayType(0);
  const waiting = entries.values();
  const lane = async (): Promise<void> => {
    for (const [key, entry] of waiting) arrays[key] = await fetchArray(transport, id, key, { entry, signal });
  };
  await Promise.all(Array.from({ length: Math.min(LANES, entries.length) }, lane));
  return { ...proven, metadata: proven.manifest.snapshot, arrays };
}

export interface FetchArrayOptions {
  /** The proven manifest's word on the array, which the answer must keep. */
  readonly entry?: ArrayEntry;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `ChecksumMismatchError`, `ArrayNotFoundError`, and what `streamArray` throws. */
export async function fetchArray(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  { entry, signal }: FetchArrayOptions = {},
): Promise<IntegerArray> {
  const received = { dtype: 'uint8' as Dtype, bytes: new Uint8Array(0) };
  let at = 0;
  const blocks = streamArray(transport, id, key, signal === undefined ? {} : { signal }, (info) => {
    if (entry !== undefined) checkEntry(id, key, entry, info);
    received.dtype = info.dtype;
    received.bytes = new Uint8Array(info.byteLength);
  });
  for await (const block of blocks) {
    received.bytes.set(block, at);
    at += block.length;
  }
  return typedArray(received.dtype, received.bytes);
}

function typedArray(dtype: Dtype, bytes: Uint8Array<ArrayBuffer>): IntegerArray {
  const { arrayType, width } = DTYPES[dtype];
  if (endianness() === 'BE') swapBytes(bytes, width);
  return new arrayType(bytes.buffer);
}

function checkEntry(id: SnapshotId, key: ArrayKey, entry: ArrayEntry, info: ArrayInfo): void {
  if (info.sha256 !== entry.sha256) {
    throw new ChecksumMismatchError(`array ${key} of ${id}`, entry.sha256, info.sha256);
  }
  if (info.dtype !== entry.dtype || String(info.byteLength) !== entry.byte_length) {
    throw new ProtocolError(
      `The array ${key} of ${id} is announced as ${info.byteLength} bytes of ${info.dtype}; its manifest says ` +
        `${entry.byte_length} bytes of ${entry.dtype}.`,
    );
  }
}
