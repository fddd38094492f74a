import { expect, test } from 'vitest';

import { littleEndian, ownedArray } from '../../src/contract/dtypes.ts';

test("a big-endian host sends the bytes of every element reversed, and leaves the caller's as they are", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  expect(littleEndian(bytes, 4, true)).toEqual(Uint8Array.of(4, 3, 2, 1, 8, 7, 6, 5));
  expect(littleEndian(bytes, 8, true)).toEqual(Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1));
  expect(littleEndian(bytes, 1, true)).toEqual(bytes);
  expect(bytes).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
});

test('a little-endian host sends what is there, without a copy', () => {
  const bytes = Uint8Array.of(1, 2);
  expect(littleEndian(bytes, 2, false)).toBe(bytes);
});

test('what a big-endian host reads has the values that were written', () => {
  const [first] = ownedArray('uint16', Uint8Array.of(0x01, 0x02), true);
  const [swapped] = ownedArray('uint16', Uint8Array.of(0x02, 0x01), false);
  expect(first).toBe(swapped);
});
