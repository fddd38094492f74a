import { markerBytes } from '../../src/contract/package.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { SHA256_HEX_PATTERN } from '../../src/contract/ids.ts';
import { DTYPES, dtypeOfTypedArray, dtypeWidth, isDtype } from '../../src/contract/dtypes.ts';
import { compareUint64, isUint64, UINT64_MAX } from '../../src/contract/uint64.ts';

describe('uint64', () => {
  test('every value up to 2^64-1 is accepted in its decimal text, and no larger one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: UINT64_MAX * 3n }), (value) => {
        expect(isUint64(String(value))).toBe(value <= UINT64_MAX);
      }),
      { examples: [[0n], [UINT64_MAX], [UINT64_MAX + 1n], [10n ** 20n]] },
    );
  });

  test.each(['', '00', '007', '+7', '-1', ' 7', '7 ', '7\n', '1e3', '1.0', '0x1', '٣', 7, 7n, true, null])(
    '%s (%#) is refused',
    (value) => expect(isUint64(value)).toBe(false),
  );

  test('comparing texts orders them by value', () => {
    const uint64 = fc.bigInt({ min: 0n, max: UINT64_MAX });
    fc.assert(
      fc.property(uint64, uint64, (a, b) => {
        expect(Math.sign(compareUint64(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
      {
        examples: [
          [9n, 10n],
          [9007199254740993n, 9007199254740992n],
          [5n, 5n],
        ],
      },
    );
  });
});

describe('dtypes', () => {
  test('there are eight, each with the width of its typed array', () => {
    expect(Object.keys(DTYPES)).toHaveLength(8);
    for (const [name, { width, signed, arrayType }] of Object.entries(DTYPES)) {
      expect(isDtype(name)).toBe(true);
      expect(width).toBe(arrayType.BYTES_PER_ELEMENT);
      expect(name).toBe(`${signed ? '' : 'u'}int${width * 8}`);
      expect(dtypeOfTypedArray(new arrayType(1))).toBe(name);
    }
    expect(dtypeWidth('int16')).toBe(2);
  });

  test.each(['float64', 'UINT64', '>i8', '', 'constructor', 'toString', 8, null])('%j is no dtype', (value) =>
    expect(isDtype(value)).toBe(false),
  );

  test('only integer arrays have a dtype', () => {
    expect(dtypeOfTypedArray(Buffer.from('ab'))).toBe('uint8');
    const others = [
      new Uint8ClampedArray(1),
      new Float32Array(1),
      new Float64Array(1),
      new ArrayBuffer(8),
      [1],
    ];
    for (const other of [...others, new DataView(new ArrayBuffer(8)), null, undefined, 'uint8', {}]) {
      expect(dtypeOfTypedArray(other)).toBeNull();
    }
  });
});

test('digests are lowercase hex, and the marker is the digest and a newline', () => {
  const digest = sha256Hex(Buffer.from('abc'));
  expect(digest).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(Buffer.from(markerBytes(digest)).toString()).toBe(`${digest}\n`);
  expect(SHA256_HEX_PATTERN.test(digest)).toBe(true);
  expect(SHA256_HEX_PATTERN.test(`${digest}\n`)).toBe(false);
  expect(SHA256_HEX_PATTERN.test(digest.toUpperCase())).toBe(false);
});
