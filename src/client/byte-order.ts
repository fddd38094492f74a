/** Payloads are little-endian on every host (PW-07.02). */
import { endianness } from 'node:os';

/** Reverses the bytes of every element in place; its own inverse. */
export function swapBytes(bytes: Uint8Array, width: number): Uint8Array {
  for (let at = 0; at < bytes.length; at += width) bytes.subarray(at, at + width).reverse();
  return bytes;
}

/** `bytes` of the host's order as little-endian: themselves, or a swapped copy on a big-endian host. */
export function littleEndian(bytes: Uint8Array, width: number, host: 'LE' | 'BE' = endianness()): Uint8Array {
  return host === 'LE' || width === 1 ? bytes : swapBytes(bytes.slice(), width);
}
