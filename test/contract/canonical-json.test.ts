import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalJson, compareCodePoints } from '../../src/contract/canonical-json.ts';
import { JsonNumber, parseStrictJson } from '../../src/contract/strict-json.ts';
import type { JsonValue } from '../../src/contract/strict-json.ts';

const text = (value: unknown) => Buffer.from(canonicalJson(value as never)).toString();

const canonicalValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'binary', maxLength: 3 }), tie('value'), { maxKeys: 5 }),
  ),
})).value;

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

describe('canonical JSON has the bytes that json.dumps of Python has', () => {
  test.each([
    [{ b: 1, a: [true, false, null], '': -7 }, '{"":-7,"a":[true,false,null],"b":1}'],
    [{ a10: 1, a9: 2, A: 3, _: 4 }, '{"A":3,"_":4,"a10":1,"a9":2}'],
    [{ 10: 1, 9: 2, 1: 3 }, '{"1":3,"10":1,"9":2}'],
    ['"\\/\b\f\n\r\t\0\x1f\x7f', String.raw`"\"\\/\b\f\n\r\t\u0000\u001f` + '\x7f"'],
    ['ä€😀\u2028\ufeff\uffff', '"ä€😀\u2028\ufeff\uffff"'],
    // U+FF61 sorts before U+1F600, though its UTF-16 unit is the larger one.
    [{ '😀': 1, '\uff61': 2, '\ud7ff': 3, a: 4 }, '{"a":4,"\ud7ff":3,"\uff61":2,"😀":1}'],
    ['say "x"', String.raw`"say \"x\""`],
    [-0, '0'],
    [Number.MIN_SAFE_INTEGER, '-9007199254740991'],
    [[], '[]'],
    [Object.create(null), '{}'],
  ])('%j', (value, expected) => expect(text(value)).toBe(expected));

  test('names are in the order of their code points', () => {
    const name = fc.string({ unit: 'binary', maxLength: 4 });
    const points = (value: string) => Array.from(value, (char) => char.codePointAt(0)!);
    fc.assert(
      fc.property(name, name, (a, b) => {
        const left = points(a);
        const right = points(b);
        const at = left.findIndex((point, index) => point !== right[index]);
        const expected = at === -1 ? left.length - right.length : left[at]! - (right[at] ?? -1);
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected));
      }),
      {
        numRuns: 2000,
        examples: [
          ['\u{10000}', '\uffff'],
          ['\ue000', '\u{10ffff}'],
          ['a\u{10000}', 'a\uff61'],
        ],
      },
    );
  });

  test('reading it gives the value again, and writing that gives the same bytes', () => {
    fc.assert(
      fc.property(canonicalValue, (value) => {
        const bytes = canonicalJson(value as never);
        const again = plain(parseStrictJson(bytes));
        expect(Buffer.from(canonicalJson(again as never)).equals(Buffer.from(bytes))).toBe(true);
        expect(again).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  test('a null-prototype object with the name __proto__ keeps it', () => {
    expect(text(parseStrictJson(Buffer.from('{"b":[],"__proto__":"x"}')))).toBe('{"__proto__":"x","b":[]}');
  });
});

describe('what has no canonical form is a TypeError', () => {
  test.each([
    ['lone high surrogate', '\ud800'],
    ['lone low surrogate in a name', { 'a\udc00': 1 }],
    ['fraction', 0.5],
    ['unsafe integer', 2 ** 53],
    ['NaN', Number.NaN],
    ['infinity', Infinity],
    ['undefined', undefined],
    ['undefined member', { a: undefined }],
    ['hole', [, 1]], // eslint-disable-line no-sparse-arrays
    ['bigint', 1n],
    ['function', () => 1],
    ['date', new Date(0)],
    ['map', new Map()],
    ['number text with a fraction', new JsonNumber('1.0')],
    ['number text of negative zero', new JsonNumber('-0')],
  ])('%s', (_name, value) => expect(() => text(value)).toThrow(TypeError));
});
