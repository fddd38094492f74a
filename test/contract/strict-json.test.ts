import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonValue } from '../../src/contract/strict-json.ts';
import { JsonNumber, parseStrictJson } from '../../src/contract/strict-json.ts';
import { refusal } from './examples.ts';

const parse = (text: string, maxDepth?: number) =>
  parseStrictJson(Buffer.from(text), maxDepth === undefined ? {} : { maxDepth });

/** The value as JSON.parse would have given it. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

describe('what is strict JSON is read as JSON.parse reads it', () => {
  test('for any value, compact or with blanks', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.constantFrom(undefined, 1, '\t', '\r\n '),
        (value, blanks) => {
          const text = JSON.stringify(value, null, blanks);
          expect(plain(parse(text))).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a text with one change is refused exactly if JSON.parse refuses it or a name is there twice', () => {
    const change = fc.record({
      at: fc.nat(200),
      cut: fc.nat(3),
      put: fc.constantFrom(
        '',
        '"',
        '\\',
        ',',
        ':',
        '{',
        '}',
        '[',
        ']',
        '0',
        '-',
        '.',
        'e',
        '+',
        '\n',
        '\u0001',
        'u',
        't',
      ),
    });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), change, (value, { at, cut, put }) => {
        const whole = JSON.stringify(value);
        const start = at % (whole.length + 1);
        // What has no UTF-8 form of its own cannot be a document.
        const text = (whole.slice(0, start) + put + whole.slice(start + cut)).replaceAll(
          /\p{Surrogate}/gu,
          '?',
        );
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(refusal(() => parse(text)).code).toBe('malformed_json');
          return;
        }
        try {
          expect(plain(parse(text))).toEqual(expected);
        } catch (error) {
          if (!String(error).includes('each name once')) throw error;
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('numbers keep their text', () => {
    for (const text of ['0', '-0', '1', '1.0', '1e0', '18446744073709551615', '-12.50E+3', '1E400']) {
      const number = parse(text) as JsonNumber;
      expect(number).toBeInstanceOf(JsonNumber);
      expect(number.text).toBe(text);
      expect(number.isInteger).toBe(/^-?\d+$/.test(text));
    }
  });

  test('escapes are undone, and lone surrogates are left to whoever uses the text', () => {
    expect(parse(String.raw`"\"\\\/\b\f\n\r\t\u0041\uD83D\ude00\u0000"`)).toBe('"\\/\b\f\n\r\tA😀\0');
    expect(parse(String.raw`"\ud800"`)).toBe('\ud800');
  });

  test('__proto__ and constructor are names like any other', () => {
    const value = parse('{"__proto__":{"x":true},"constructor":null,"toString":"t"}') as Record<
      string,
      JsonValue
    >;
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(value['x']).toBeUndefined();
  });
});

describe('what is not strict JSON is refused with the place and what was expected', () => {
  test.each([
    ['', 1, 1, 'a JSON value'],
    ['   ', 1, 4, 'a JSON value'],
    ['\ufeff{}', 1, 1, 'byte order mark'],
    ['{"a":1,"a":2}', 1, 8, 'each name once'],
    [String.raw`{"a":1,"\u0061":2}`, 1, 8, 'each name once'],
    ['{"__proto__":1,"__proto__":2}', 1, 16, 'each name once'],
    ['{"a":{"b":1,"b":1}}', 1, 13, 'each name once'],
    ['NaN', 1, 1, 'a JSON value'],
    ['[Infinity]', 1, 2, 'a JSON value'],
    ['-Infinity', 1, 2, 'a digit'],
    ['{}x', 1, 3, 'the end of the document'],
    ['{}\n\n {}', 3, 2, 'the end of the document'],
    ['"a\nb"', 1, 3, 'control characters escaped'],
    ['"a', 1, 3, 'control characters escaped'],
    [String.raw`"\x"`, 1, 2, 'one of the escapes'],
    [String.raw`"\u12g4"`, 1, 2, 'one of the escapes'],
    [String.raw`"\u123"`, 1, 2, 'one of the escapes'],
    ['01', 1, 2, 'the end of the document'],
    ['-', 1, 2, 'a digit'],
    ['1.', 1, 3, 'a digit'],
    ['1e+', 1, 4, 'a digit'],
    ['.5', 1, 1, 'a JSON value'],
    ['+1', 1, 1, 'a JSON value'],
    ['nul', 1, 1, 'a JSON value'],
    ['[1,]', 1, 4, 'a JSON value'],
    ['[1 2]', 1, 4, '"," or "]"'],
    ['{"a":1,}', 1, 8, 'a name in double quotes'],
    ["{'a':1}", 1, 2, 'a name in double quotes'],
    ['{"a" 1}', 1, 6, '":"'],
    ['{"a":1 "b":2}', 1, 8, '"," or "}"'],
    ['{"a":1', 1, 7, '"," or "}"'],
    ['/**/1', 1, 1, 'a JSON value'],
    ['\u00a01', 1, 1, 'a JSON value'],
  ])('%j at line %i, column %i: %s', (text, line, column, expected) => {
    const { code, message, error } = refusal(() => parse(text));
    expect(code).toBe('malformed_json');
    expect(error.details).toEqual({ line, column });
    expect(message).toContain(`Line ${line}, column ${column}: expected `);
    expect(message).toContain(expected);
  });

  test.each([
    [[0x22, 0xff, 0x22], 1, 2],
    [[0x22, 0xc3, 0xa4, 0x0a, 0xc0, 0x80], 2, 1],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], 1, 2],
    [[0x22, 0xe2, 0x82], 1, 2],
  ])('bytes that are not UTF-8: %j', (bytes, line, column) => {
    const { code, error } = refusal(() => parseStrictJson(Uint8Array.from(bytes)));
    expect(code).toBe('malformed_json');
    expect(error.details).toEqual({ line, column });
  });

  test('a refusal leaves nothing behind for the next document', () => {
    refusal(() => parseStrictJson(Uint8Array.of(0x22, 0xe2, 0x82)));
    expect(parse('"ä"')).toBe('ä');
  });

  test('nesting is bounded, 32 levels by default', () => {
    expect(parse(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeInstanceOf(Array);
    expect(refusal(() => parse(`${'['.repeat(33)}${']'.repeat(33)}`)).message).toContain('at most 32 levels');
    expect(refusal(() => parse('{"a":[{}]}', 2)).message).toContain('at most 2 levels');
    expect(parse('[[1],[2],{"a":[]}]', 3)).toHaveLength(3);
  });

  test.each([
    ['brackets', '['],
    ['names', '{"a":'],
    ['digits', '1'],
    ['escapes', String.raw`"\n`],
    ['newlines', '\n'],
    ['quotes', '"'],
  ])('4 MiB of %s are judged in bounded time and with a short message', (_name, unit) => {
    const bytes = Buffer.from(`${unit.repeat((4 << 20) / unit.length)}!`);
    const start = performance.now();
    expect(refusal(() => parseStrictJson(bytes)).message.length).toBeLessThan(300);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
