/** The eight integer element types of a payload (PW-07.02) and the typed arrays that hold them in memory. */

export const DTYPES = {
  int8: { width: 1, signed: true, arrayType: Int8Array },
  int16: { width: 2, signed: true, arrayType: Int16Array },
  int32: { width: 4, signed: true, arrayType: Int32Array },
  int64: { width: 8, signed: true, arrayType: BigInt64Array },
  uint8: { width: 1, signed: false, arrayType: Uint8Array },
  uint16: { width: 2, signed: false, arrayType: Uint16Array },
  uint32: { width: 4, signed: false, arrayType: Uint32Array },
  uint64: { width: 8, signed: false, arrayType: BigUint64Array },
} as const;

export type Dtype = keyof typeof DTYPES;

export type IntegerArray =
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

export const DTYPE_NAMES = Object.keys(DTYPES) as readonly Dtype[];

/** Tells whether `value` names one of the eight dtypes. */
export function isDtype(value: unknown): value is Dtype {
  return typeof value === 'string' && Object.hasOwn(DTYPES, value);
}

/** Bytes per element. */
export function dtypeWidth(dtype: Dtype): 1 | 2 | 4 | 8 {
  return DTYPES[dtype].width;
}

/**
 * The dtype of a typed array, or null for anything that holds no integers of the contract: floats, a clamped array,
 * a DataView. A Buffer is a `uint8` array, and so is any other subclass of its typed array.
 */
export function dtypeOfTypedArray(array: unknown): Dtype | null {
  return DTYPE_NAMES.find((dtype) => array instanceof DTYPES[dtype].arrayType) ?? null;
}

/** One element of little-endian bytes, exactly. */
export function elementAt(dtype: Dtype, bytes: Uint8Array, index: number): number | bigint {
  const { width, signed } = DTYPES[dtype];
  const view = new DataView(bytes.buffer, bytes.byteOffset + index * width, width);
  switch (width) {
    case 1:
      return signed ? view.getInt8(0) : view.getUint8(0);
    case 2:
      return signed ? view.getInt16(0, true) : view.getUint16(0, true);
    case 4:
      return signed ? view.getInt32(0, true) : view.getUint32(0, true);
    case 8:
      return signed ? view.getBigInt64(0, true) : view.getBigUint64(0, true);
  }
}

const HOST_IS_BIG_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

/** Reverses the bytes of every element in place; its own inverse. */
function swapBytes(bytes: Uint8Array, width: number): Uint8Array {
  for (let at = 0; at < bytes.length; at += width) bytes.subarray(at, at + width).reverse();
  return bytes;
}

/** `bytes` of the host's order as little-endian: themselves, or a swapped copy on a big-endian host. */
export function littleEndian(bytes: Uint8Array, width: number, swapped = HOST_IS_BIG_ENDIAN): Uint8Array {
  return swapped && width > 1 ? swapBytes(bytes.slice(), width) : bytes;
}

/** A typed array over exactly these little-endian bytes, which it takes over, whatever the host's order. */
export function ownedArray(
  dtype: Dtype,
  bytes: Uint8Array<ArrayBuffer>,
  swapped = HOST_IS_BIG_ENDIAN,
): IntegerArray {
  const { arrayType, width } = DTYPES[dtype];
  if (swapped) swapBytes(bytes, width);
  return new arrayType(bytes.buffer);
}

type Mutators = 'set' | 'fill' | 'sort' | 'reverse' | 'copyWithin' | 'buffer' | 'subarray';
type ReadonlyOf<A> = A extends IntegerArray
  ? Omit<A, Mutators | number> & Readonly<Record<number, A[number]>>
  : never;

/** A typed array without the members that change it. It is a copy of its own: nothing reaches the stored bytes. */
export type ReadonlyIntegerArray = ReadonlyOf<IntegerArray>;
