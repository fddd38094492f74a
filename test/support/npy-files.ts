/** `.npy` files as NumPy writes them, made by hand from the format's description, and odd ones. */
import type { Dtype } from '../../src/contract/dtypes.ts';

/** What NumPy calls each dtype in a header. */
export const DESCR: Readonly<Record<Dtype, string>> = {
  int8: '|i1',
  int16: '<i2',
  int32: '<i4',
  int64: '<i8',
  uint8: '|u1',
  uint16: '<u2',
  uint32: '<u4',
  uint64: '<u8',
};

export interface NpyParts {
  readonly payload: Uint8Array;
  /** The dict and what surrounds it, without the final newline. */
  readonly header: string;
  readonly version?: 1 | 2 | 3;
}

/** The dict as `numpy.save` writes it; `shape` is the text of the tuple. */
export function npyDict(descr: string, shape: string, fortranOrder: 'True' | 'False' = 'False'): string {
  return `{'descr': ${descr}, 'fortran_order': ${fortranOrder}, 'shape': ${shape}, }`;
}

/** Padded with blanks so that the payload begins on a multiple of 64 bytes. */
export function npyFile({ payload, header, version = 1 }: NpyParts): Buffer {
  const lengthBytes = version === 1 ? 2 : 4;
  const fixed = 8 + lengthBytes;
  const whole = Math.ceil((fixed + header.length + 1) / 64) * 64;
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntLE(whole - fixed, 0, lengthBytes);
  const text = `${header.padEnd(whole - fixed - 1)}\n`;
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  return Buffer.concat([start, length, Buffer.from(text, 'latin1'), payload]);
}

/** What `numpy.save` writes for a one-dimensional array with these raw bytes. */
export function savedArray(dtype: Dtype, payload: Uint8Array, version: 1 | 2 | 3 = 1): Buffer {
  const count = payload.length / Number(DESCR[dtype].slice(2));
  return npyFile({ payload, header: npyDict(`'${DESCR[dtype]}'`, `(${count},)`), version });
}
