/** What library callers may hand over as an array, and how it becomes declared, little-endian bytes (PW-07.02). */
import {
  dtypeOfTypedArray,
  isDtype,
  littleEndian,
  type Dtype,
  type IntegerArray,
} from '../contract/dtypes.ts';
import { ContractViolationError, type Violation } from '../contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../contract/ids.ts';
import type { DraftArray, DraftManifest } from '../contract/manifest.ts';
import type { IncomingPayload } from './incoming-payloads.ts';

/** A stream of raw little-endian bytes with its dtype; chunks may be of any length. */
export interface ByteStream {
  readonly dtype: Dtype;
  readonly data: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export type ArrayInput = IntegerArray | ByteStream;

/** Bytes copied at once from a caller's array. */
const COPY_BYTES = 1024 * 1024;

/** Throws `ContractViolationError` listing every key and every value that is not an array of integers. */
export function declaredArrays(arrays: Readonly<Record<ArrayKey, ArrayInput>>): DraftManifest['arrays'] {
  const declared = Object.create(null) as Record<ArrayKey, DraftArray>;
  const errors: Violation[] = [];
  for (const [key, input] of Object.entries(arrays)) {
    const path = `arrays.${key}`;
    if (!isArrayKey(key)) {
      errors.push({ path, message: 'is no array key: expected [a-z][a-z0-9_]{0,63}' });
      continue;
    }
    const dtype = dtypeOf(input);
    if (dtype === null) {
      errors.push({
        path: `${path}.dtype`,
        message:
          'expected a typed array of 8 to 64 bit integers, or { dtype, data } with one of their dtypes',
      });
      continue;
    }
    declared[key] = { dtype };
  }
  if (errors.length > 0) throw new ContractViolationError(errors);
  return declared;
}

export async function* payloadsOf(
  arrays: Readonly<Record<ArrayKey, ArrayInput>>,
): AsyncGenerator<IncomingPayload, void, void> {
  for (const [name, input] of Object.entries(arrays)) {
    yield { name, chunks: isByteStream(input) ? iterate(name, input.data) : littleEndianBytes(input) };
    await Promise.resolve();
  }
}

function dtypeOf(input: unknown): Dtype | null {
  if (isByteStream(input)) return isDtype(input.dtype) ? input.dtype : null;
  return dtypeOfTypedArray(input);
}

function isByteStream(input: unknown): input is ByteStream {
  return (
    typeof input === 'object' &&
    input !== null &&
    'dtype' in input &&
    'data' in input &&
    !ArrayBuffer.isView(input)
  );
}

/** Wider elements or text would be cut down to bytes without a word. */
async function* iterate(key: ArrayKey, data: ByteStream['data']): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of data as AsyncIterable<unknown> | Iterable<unknown>) {
    if (!(chunk instanceof Uint8Array)) {
      throw new ContractViolationError([
        { path: `arrays.${key}`, message: 'must be a stream of Uint8Array chunks; found another value' },
      ]);
    }
    yield chunk;
  }
}

async function* littleEndianBytes(array: IntegerArray): AsyncGenerator<Uint8Array, void, void> {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let at = 0; at < bytes.length; at += COPY_BYTES) {
    yield littleEndian(bytes.slice(at, at + COPY_BYTES), array.BYTES_PER_ELEMENT);
    await Promise.resolve();
  }
}
