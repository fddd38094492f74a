/** What the page works out itself: exact for every width, and nothing hidden in any text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { DTYPES, DTYPE_NAMES, type Dtype } from '../../src/contract/dtypes.ts';
import {
  documentOf,
  FIELD_PATHS,
  fieldsOf,
  partOf,
  violationsOf,
  type Fields,
} from '../../src/page/draft.ts';
import { count, duration, exactTime, permille, size } from '../../src/page/figures.ts';
import { familyOf, graphOf, type Member } from '../../src/page/graph.ts';
import { aligned, differences, unmatched } from '../../src/page/positions.ts';
import { profileOf, type Values } from '../../src/page/profile.ts';
import { cut, pieces, plain } from '../../src/page/text.ts';
import { idOf, metadataOf } from '../support/example.ts';

const never = new AbortController().signal;

function boundsOf(dtype: Dtype): { min: bigint; max: bigint } {
  const { width, signed } = DTYPES[dtype];
  const bits = BigInt(width * 8);
  return signed
    ? { min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }
    : { min: 0n, max: 2n ** bits - 1n };
}

function valuesOf(dtype: Dtype, values: readonly bigint[]): Values {
  const { arrayType, width } = DTYPES[dtype];
  const array = width === 8 ? values : values.map(Number);
  const typed = (arrayType as unknown as { from(items: readonly unknown[]): BigInt64Array }).from(array);
  return { dtype, count: values.length, parts: [{ start: 0, values: typed }], isWhole: true };
}

/** Values of a dtype, with its ends among them more often than chance has it. */
function anyOf(dtype: Dtype): fc.Arbitrary<bigint[]> {
  const { min, max } = boundsOf(dtype);
  return fc.array(fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 0n)), { maxLength: 60 });
}

describe.each(DTYPE_NAMES)('Values of %s', (dtype) => {
  test('have their exact ends, and each lies in exactly the one bin that says so', async () => {
    await fc.assert(
      fc.asyncProperty(anyOf(dtype), async (values) => {
        const { first, last, min, max, bins, seen } = await profileOf(valuesOf(dtype, values), never);
        expect(seen).toBe(values.length);
        expect(first).toEqual(values.slice(0, 5));
        expect([...first, ...last]).toEqual(
          values.length <= 10 ? values : [...values.slice(0, 5), ...values.slice(-5)],
        );
        const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect([min, max]).toEqual([sorted[0] ?? null, sorted.at(-1) ?? null]);
        expect(bins.length).toBeLessThanOrEqual(48);
        for (const [at, bin] of bins.entries()) {
          expect(bin.count).toBe(values.filter((value) => bin.from <= value && value <= bin.to).length);
          if (at > 0) expect(bin.from).toBe(bins[at - 1]!.to + 1n);
        }
        if (values.length > 0) expect([bins[0]!.from, bins.at(-1)!.to]).toEqual([min, max]);
      }),
      { numRuns: 40 },
    );
  });

  test('differ where they do, by position and by row', async () => {
    await fc.assert(
      fc.asyncProperty(anyOf(dtype), anyOf(dtype), async (left, right) => {
        const [from, to] = [valuesOf(dtype, left), valuesOf(dtype, right)];
        const spans = await differences(from, to, null, never);
        const length = Math.max(left.length, right.length);
        expect(spans.map(({ start, end }) => [start, end])).toEqual(
          Array.from({ length }, (_, at) => [at, at + 1]),
        );
        expect(spans.map(({ differing }) => differing === 1)).toEqual(
          Array.from({ length }, (_, at) => left[at] !== right[at]),
        );
        const keys = [new Set(left), new Set(right)].map((set) => [...set]) as [bigint[], bigint[]];
        const rows = await aligned(valuesOf(dtype, keys[0]), valuesOf(dtype, keys[1]), never);
        expect([...rows]).toEqual(keys[0].map((key) => keys[1].indexOf(key)));
        expect((await unmatched(rows, never)).map(({ differing }) => differing === 1)).toEqual(
          keys[0].map((key) => !keys[1].includes(key)),
        );
        const byRow = await differences(valuesOf(dtype, keys[0]), valuesOf(dtype, keys[1]), rows, never);
        expect(byRow.every(({ differing }) => differing === 0)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

test('many positions are counted in spans that cover each once', async () => {
  const left = Array.from({ length: 10_001 }, (_, at) => BigInt(at));
  const right = left.map((value, at) => (at % 7 === 0 ? value + 1n : value));
  const spans = await differences(valuesOf('int64', left), valuesOf('int64', right), null, never);
  expect([spans.length, spans[0]!.start, spans.at(-1)!.end]).toEqual([240, 0, 10_001]);
  for (const [at, { start }] of spans.entries()) if (at > 0) expect(start).toBe(spans[at - 1]!.end);
  expect(spans.reduce((sum, { differing }) => sum + differing, 0)).toBe(Math.ceil(10_001 / 7));
});

describe('Text from producers', () => {
  test.each([
    ['a\u202eb', 'aU+202Eb'],
    ['\0', '\\0'],
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    [' x  ', '␣x␣␣'],
    ['a b', 'a b'],
    ['\u00a0\u2003', 'U+00A0U+2003'],
    ['\u200b\u200d\ufeff\u2066\u061c', 'U+200BU+200DU+FEFFU+2066U+061C'],
    ['\u001b[31m', 'U+001B[31m'],
    ['\u{e0041}', 'U+E0041'],
    ['\u3164\u2800\ufe0f', 'U+3164U+2800U+FE0F'],
    ['\ud800', 'U+D800'],
    ['<b>é 😀 日本 עברית</b>', '<b>é 😀 日本 עברית</b>'],
  ])('%j is shown as %s', (text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  test('is shown whole, piece by piece, and nothing of it is invisible or steers what is around', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = pieces(text);
        const kept = shown.filter(({ isEscape }) => !isEscape).map((piece) => piece.text);
        expect(kept.join('')).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
        for (const piece of kept) expect(text).toContain(piece);
        const escapes = shown.length - kept.length;
        const lengthOf = (shown: string): number => Array.from(shown).length;
        expect(lengthOf(kept.join('')) + escapes).toBe(lengthOf(text));
      }),
    );
  });

  test('is cut between characters', () => {
    expect(cut('😀😀', 3)).toBe('😀');
    expect(cut('😀😀', 4)).toBe('😀😀');
    expect(plain('x'.repeat(1_000_000))).toBe(`${'x'.repeat(120)}…`);
  });
});

describe('Figures', () => {
  test('of 64 bits lose nothing', () => {
    expect(count('18446744073709551615')).toBe('18,446,744,073,709,551,615');
    expect(count(-(2n ** 63n))).toBe('-9,223,372,036,854,775,808');
    expect(exactTime('18446744073709551615')).toBe('2554-07-21T23:34:33.709551615Z');
    expect(exactTime('1')).toBe('1970-01-01T00:00:00.000000001Z');
    expect(permille(2n ** 64n - 2n, 2n ** 64n - 1n)).toBe(999);
    expect(permille(0n, 0n)).toBe(1000);
  });

  test.each([
    ['0', '0 bytes'],
    ['1', '1 byte'],
    ['999', '999 bytes'],
    ['1000', '1.0 kB'],
    ['999499', '999 kB'],
    ['999500', '1.0 MB'],
    ['18446744073709551615', '18 EB'],
  ])('%s bytes are %s', (bytes, shown) => {
    expect(size(bytes)).toBe(shown);
  });

  test.each([
    [0n, '0 ns'],
    [1_500n, '1.5 µs'],
    [1_750_000_000n, '1.75 s'],
    [200_000_000_000n, '3 min 20 s'],
    [-2_000_000n, '−2 ms'],
    [400n * 86_400n * 1_000_000_000n, '1 y 35 d'],
  ])('%s ns took %s', (ns, shown) => {
    expect(duration(ns)).toBe(shown);
  });
});

describe('The graph of a family', () => {
  const member = (id: string, parent: string | null, finished: number): Member => ({
    kind: 'snapshot',
    id,
    parent,
    summary: { ...metadataOf(id), finished_at_ns: String(finished) } as never,
  });

  test('has no child below its parent, whatever the clocks say, and lines that cross no other dot', () => {
    const shape = fc.array(fc.tuple(fc.nat(), fc.nat(50)), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(shape, (drawn) => {
        const members = drawn.map(([pick, time], at) =>
          member(idOf(at), at === 0 ? null : idOf(pick % at), time),
        );
        const { rows, lanes } = graphOf(members);
        expect(new Set(rows.map((row) => row.member.id)).size).toBe(drawn.length);
        for (const [at, { member: own, lane, parentRow }] of rows.entries()) {
          expect(lane).toBeLessThan(lanes);
          if (own.parent === null) continue;
          expect(rows[parentRow!]!.member.id).toBe(own.parent);
          expect(parentRow).toBeGreaterThan(at);
          // The line goes down in the child's lane until it bends into the parent's row.
          for (const between of rows.slice(at + 1, parentRow!)) expect(between.lane).not.toBe(lane);
        }
      }),
    );
  });

  test('is all that parents and children connect, and nothing else', () => {
    const members = new Map(
      [
        member('a', null, 1),
        member('b', 'a', 2),
        member('c', 'b', 3),
        member('d', 'a', 4),
        member('e', 'lost', 5),
        member('f', null, 6),
      ].map((one) => [one.id, one]),
    );
    expect(
      familyOf('c', members)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['a', 'b', 'c', 'd']);
    expect(familyOf('e', members).map(({ id }) => id)).toEqual(['e']);
  });
});

describe('A publication by hand', () => {
  const { coverage, fingerprint, ...snapshot } = metadataOf(idOf(1));
  const filled = fieldsOf(JSON.stringify({ snapshot: { ...snapshot, coverage, fingerprint }, arrays: {} }))!
    .fields as Fields;

  test('is the document that its fields were filled from', () => {
    expect(FIELD_PATHS.filter((path) => !(path in filled))).toEqual([]);
    expect(documentOf(filled, [])).toEqual({ snapshot: metadataOf(idOf(1)), arrays: {} });
    expect(violationsOf(filled, [])).toEqual([]);
    const unknown = { ...filled, 'snapshot.coverage.expected_records': '' };
    expect(documentOf(unknown, [])).toMatchObject({ snapshot: { coverage: { expected_records: null } } });
    expect(violationsOf(unknown, []).map(({ path }) => path)).toEqual(['snapshot.coverage.expected_records']);
  });

  test('takes keys from names, and types from .npy files', async () => {
    const header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }";
    const head = Buffer.concat([Buffer.from('\x93NUMPY\x01\0', 'latin1'), Buffer.from([header.length, 0])]);
    const npy = new File([head, header, new Uint32Array([1, 2])], 'array-Some Ids.npy');
    expect(await partOf(npy)).toMatchObject({
      key: 'some_ids',
      dtype: 'uint32',
      isNpy: true,
      payloadBytes: 8,
    });
    expect(await partOf(new File(['1234'], 'ids.bin'))).toMatchObject({
      key: 'ids',
      dtype: '',
      isNpy: false,
    });
    expect(await partOf(new File(['no array'], '7.npy'))).toMatchObject({ key: 'array', isNpy: false });
  });

  test('is told what is wrong with its files before they are sent', async () => {
    const part = await partOf(new File(['12345'], 'ids.bin'));
    expect(violationsOf(filled, [part])).toEqual([
      { path: 'arrays.ids.dtype', message: 'is required but missing' },
    ]);
    expect(violationsOf(filled, [{ ...part, dtype: 'int16' }])[0]!.message).toContain(
      'whole elements of 2 bytes',
    );
    const twice = [
      { ...part, dtype: 'int8' as const },
      { ...part, dtype: 'int8' as const },
    ];
    expect(violationsOf(filled, twice).map(({ path }) => path)).toEqual(['arrays.ids']);
    expect(violationsOf(filled, [{ ...part, key: 'No Key', dtype: 'int8' }])).toHaveLength(1);
  });
});
