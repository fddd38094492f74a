/**
 * A JSON reader that refuses what JSON.parse lets through: duplicate names, a byte order mark, invalid UTF-8. Numbers
 * keep their text, so `1` and `1.0` stay apart and nothing is rounded (PW-07.01: no bool or float coercion).
 */

import { StrictJsonReader } from './json-reader.ts';
import type { JsonValue } from './json-value.ts';
import { decodeUtf8 } from './utf8.ts';

export { JsonNumber } from './json-value.ts';
export type { JsonValue } from './json-value.ts';

export interface StrictJsonOptions {
  /** Deepest nesting of arrays and objects, 32 by default. Bounds the recursion. */
  readonly maxDepth?: number;
  /** Most members of objects and items of arrays, strings in arrays aside; unlimited by default. */
  readonly maxValues?: number;
}

const DEFAULT_MAX_DEPTH = 32;

/**
 * Reads one JSON document from UTF-8 bytes, in time linear in their number.
 *
 * Lone surrogates in escapes are read as they are; whoever uses the text judges them, with the field's path.
 *
 * @throws SnapshotError `malformed_json` with `line` and `column` (1-based, in UTF-16 units) and what was expected;
 *   `limit_exceeded` (`metadata_values`)
 */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): JsonValue {
  return parseStrictText(decodeUtf8(bytes), options);
}

/** Like `parseStrictJson`, for text that `decodeUtf8` gave. */
export function parseStrictText(text: string, options: StrictJsonOptions = {}): JsonValue {
  return new StrictJsonReader(
    text,
    options.maxDepth ?? DEFAULT_MAX_DEPTH,
    options.maxValues ?? Infinity,
  ).document();
}
