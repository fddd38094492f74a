/**
 * Canonical JSON (PW-07.01): the bytes of Python's `json.dumps(value, sort_keys=True, separators=(",", ":"),
 * ensure_ascii=False, allow_nan=False).encode("utf-8")`, without a newline at the end.
 */

import { JsonNumber } from './strict-json.ts';
import { isWellFormedText } from './text.ts';

/** What has one canonical form: integers only, as Python and JavaScript write other numbers differently. */
export type CanonicalValue =
  null | boolean | number | string | readonly CanonicalValue[] | { readonly [name: string]: CanonicalValue };

const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

const encoder = new TextEncoder();

/**
 * The canonical bytes of `value`.
 *
 * @throws TypeError for a lone surrogate, a number that is no safe integer, undefined, or an object that is not plain
 */
export function canonicalJson(value: CanonicalValue): Uint8Array {
  return encoder.encode(canonicalText(value));
}

/** The text behind `canonicalJson`. A `JsonNumber` is written as it is if it is an integer in its one spelling. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return canonicalString(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`Expected a safe integer, found ${value}.`);
    return String(value);
  }
  if (Array.isArray(value)) {
    // Array.from visits holes, which have no canonical form, as undefined.
    return `[${Array.from(value, canonicalText).join(',')}]`;
  }
  if (value instanceof JsonNumber) {
    if (!CANONICAL_INTEGER.test(value.text)) throw new TypeError('Expected an integer in its shortest form.');
    return value.text;
  }
  if (isPlainObject(value)) return canonicalObject(value);
  throw new TypeError(`Expected plain JSON data, found ${typeof value}.`);
}

function canonicalObject(members: Record<string, unknown>): string {
  let text = '{';
  let separator = '';
  for (const name of Object.keys(members).sort(compareCodePoints)) {
    text += `${separator}${canonicalString(name)}:${canonicalText(members[name])}`;
    separator = ',';
  }
  return `${text}}`;
}

// Ids, digests, counts and names: nothing to escape and nothing to prove, and by far the most of every manifest.
const PLAIN_ASCII = /^[ !#-[\]-~]*$/;

// For well-formed text JSON.stringify escapes exactly what Python escapes with ensure_ascii=False, in the same way.
function canonicalString(text: string): string {
  if (PLAIN_ASCII.test(text)) return `"${text}"`;
  if (!isWellFormedText(text)) throw new TypeError('Expected text without lone surrogates.');
  return JSON.stringify(text);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Orders texts by code point, as Python does. UTF-16 order differs where a surrogate pair (U+10000 and above) meets
 * a unit from U+E000 to U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Moves the surrogates above all other units and keeps the order otherwise. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
