/** What callers may publish as an array, and how its little-endian bytes are had, once or again (PW-07.02). */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import {
  dtypeOfTypedArray,
  dtypeWidth,
  littleEndian,
  type Dtype,
  type IntegerArray,
} from '../contract/dtypes.ts';
import { isSnapshotError } from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import type { SeenPayload } from '../contract/manifest.ts';
import { readNpy, type NpyPayload } from '../contract/npy.ts';
import { npyDescr } from '../contract/npy-header.ts';
import { refusedLocally, SourceError, type ProblemError } from './errors.ts';

/** An array of a publication, whatever it came from. */
export interface ArraySource {
  readonly key: ArrayKey;
  /** Null: the document must say. */
  readonly dtype: Dtype | null;
  /** Bytes that `open` gives, or null for a stream of unknown length. */
  readonly byteLength: number | null;
  /** Whether `open` may be called again. */
  readonly replayable: boolean;
  /** Of a `.npy` file: sent before the bytes, and no part of the array. */
  readonly npyHeader?: Uint8Array;
  /** The raw little-endian bytes. */
  open(): AsyncIterable<Uint8Array>;
}

/** Raw little-endian bytes. `dtype` may be left out where the metadata document declares it. */
export interface BytesInput {
  readonly dtype?: Dtype;
  readonly data: Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
  /** Bytes of a stream, where known: then the body has a Content-Length, and the stream is held to it. */
  readonly byteLength?: number;
}

/** A regular file that holds raw little-endian elements and nothing else, or a `.npy` file, which says its own dtype. */
export interface FileInput {
  readonly dtype?: Dtype;
  readonly path: string;
  /** By default what the name says: `npy` where it ends in `.npy`. */
  readonly format?: 'raw' | 'npy';
}

/** Node's and the web's stream of bytes. */
type ReadableStream<T> = AsyncIterable<T>;

/** A typed array of integers in the host's order, bytes in memory, a file, or a stream. */
export type ArrayInput = IntegerArray | BytesInput | FileInput;

const PIECE_BYTES = 1024 * 1024;

/** Throws `SourceError` for what cannot be an array or a file that cannot be read, `ArrayMismatchError` for a wrong `.npy`. */
export async function sourceOf(key: ArrayKey, input: ArrayInput): Promise<ArraySource> {
  const typed = dtypeOfTypedArray(input);
  if (typed !== null) {
    const array = input as IntegerArray;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return memorySource(key, typed, littleEndian(bytes, dtypeWidth(typed)));
  }
  if (typeof input !== 'object' || ArrayBuffer.isView(input)) throw notAnArray(key);
  const { dtype = null } = input as { dtype?: Dtype };
  if ('path' in input) return fileSource(key, dtype, input);
  if (!('data' in input)) throw notAnArray(key);
  const { data, byteLength = null } = input;
  if (data instanceof Uint8Array) return memorySource(key, dtype, data);
  if (typeof data !== 'object' || !(Symbol.asyncIterator in data)) throw notAnArray(key);
  return { key, dtype, byteLength, replayable: false, open: () => data };
}

function memorySource(key: ArrayKey, dtype: Dtype | null, bytes: Uint8Array): ArraySource {
  return {
    key,
    dtype,
    byteLength: bytes.length,
    replayable: true,
    async *open() {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
    },
  };
}

async function fileSource(
  key: ArrayKey,
  dtype: Dtype | null,
  { path, format = path.endsWith('.npy') ? 'npy' : 'raw' }: FileInput,
): Promise<ArraySource> {
  const handle = await openFile(key, path);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new SourceError(key, `${path} is a directory; an array is one file.`);
    if (!stat.isFile())
      throw new SourceError(key, `${path} is not a regular file; pass what it is as a stream.`);
    const blocksFrom = (start: number): AsyncGenerator<Uint8Array, void, void> =>
      fileBlocks(key, path, start);
    if (format === 'npy') return await npySource(key, dtype, { path, size: stat.size, blocksFrom });
    return { key, dtype, byteLength: stat.size, replayable: true, open: () => blocksFrom(0) };
  } finally {
    await handle.close();
  }
}

async function* fileBlocks(
  key: ArrayKey,
  path: string,
  start: number,
): AsyncGenerator<Uint8Array, void, void> {
  const handle = await openFile(key, path);
  const options = { start, highWaterMark: PIECE_BYTES, autoClose: false };
  try {
    yield* handle.createReadStream(options) as AsyncIterable<Buffer>;
  } finally {
    await handle.close();
  }
}

async function openFile(key: ArrayKey, path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new SourceError(key, `${path} cannot be read (${reason}).`, { cause });
  }
}

interface NpyFile {
  readonly path: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** The file's bytes from a position to its end. */
  readonly blocksFrom: (start: number) => AsyncGenerator<Uint8Array, void, void>;
}

/**
 * A `.npy` file is sent as it is; what is hashed, declared and stored is its raw payload (PW-07.02). Throws
 * `ArrayMismatchError`, as the service would, for what is no 1-D array of little-endian integers or not whole.
 */
async function npySource(key: ArrayKey, stated: Dtype | null, file: NpyFile): Promise<ArraySource> {
  const { dtype, header, byteLength } = await readHeader(key, file);
  const found = file.size - header.length;
  if (BigInt(found) !== byteLength) {
    throw refused(
      key,
      `${file.path} holds ${found} bytes of payload; its header announces ${byteLength}; save it again with numpy.save`,
    );
  }
  if (stated !== null && stated !== dtype) {
    throw refused(
      key,
      `is given as ${stated}, but the header of ${file.path} says ${dtype}; leave the dtype out, or save ` +
        `a.astype('${npyDescr(stated)}')`,
    );
  }
  return {
    key,
    dtype,
    byteLength: found,
    replayable: true,
    npyHeader: header,
    open: () => file.blocksFrom(header.length),
  };
}

async function readHeader(key: ArrayKey, { path, blocksFrom }: NpyFile): Promise<NpyPayload> {
  const blocks = blocksFrom(0);
  try {
    return await readNpy(blocks, `arrays.${key}`);
  } catch (error) {
    if (!isSnapshotError(error, 'array_mismatch')) throw error;
    const [violation] = error.details.errors;
    throw refused(key, `${path}: ${violation?.message ?? error.message}`);
  } finally {
    await blocks.return();
  }
}

function refused(key: ArrayKey, message: string): ProblemError<'array_mismatch'> {
  const path = `arrays.${key}`;
  return refusedLocally('array_mismatch', `${path}: ${message}.`, { errors: [{ path, message }] });
}

/** The blocks of a source, held to its length; whatever it throws becomes a `SourceError`. */
export async function* checkedBlocks(source: ArraySource): AsyncGenerator<Uint8Array, void, void> {
  const { key, byteLength } = source;
  let length = 0;
  try {
    for await (const block of source.open()) {
      if (!((block as unknown) instanceof Uint8Array))
        throw new SourceError(key, 'a stream must give bytes (Uint8Array).');
      length += block.length;
      if (byteLength !== null && length > byteLength) break;
      if (block.length > 0) yield block;
    }
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SourceError(key, `its stream failed: ${reason}`, { cause });
  }
  if (byteLength !== null && length !== byteLength) {
    const found = length > byteLength ? 'more' : String(length);
    throw new SourceError(key, `expected ${byteLength} bytes, found ${found}.`);
  }
}

/** Length and digest by reading a source once. */
export async function seenOf(source: ArraySource, signal?: AbortSignal): Promise<SeenPayload> {
  const hash = createHash('sha256');
  let byteLength = 0;
  for await (const block of checkedBlocks(source)) {
    signal?.throwIfAborted();
    hash.update(block);
    byteLength += block.length;
  }
  return { byteLength, sha256: hash.digest('hex') };
}

function notAnArray(key: string): SourceError {
  return new SourceError(
    key,
    'expected a typed array of 8 to 64 bit integers, { dtype, data } with bytes or a stream of bytes, or { dtype, path }.',
  );
}
