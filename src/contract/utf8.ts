/** Strict decoding of UTF-8, and refusals that point at a place in the text. */

import { SnapshotError } from './errors.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of UTF-8 bytes; a byte order mark stays in it, so equal texts have equal bytes.
 *
 * @throws SnapshotError `malformed_json` at the first byte that is not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const valid = validPrefix(bytes);
    throw malformed(valid, valid.length, 'expected UTF-8, found bytes that are not', { cause });
  }
}

/** The text before the first invalid byte: up to there, decoding with replacement and encoding again is the identity. */
function validPrefix(bytes: Uint8Array): string {
  const lossy = new TextDecoder('utf-8', { ignoreBOM: true });
  const again = new TextEncoder().encode(lossy.decode(bytes));
  let end = 0;
  while (end < bytes.length && bytes[end] === again[end]) end += 1;
  return lossy.decode(bytes.subarray(0, end));
}

/** A refusal at `offset` of `text`; counting lines is left to this moment to keep reading fast. */
export function malformed(
  text: string,
  offset: number,
  what: string,
  options?: ErrorOptions,
): SnapshotError<'malformed_json'> {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  const column = offset - lineStart + 1;
  return new SnapshotError(
    'malformed_json',
    `Line ${line}, column ${column}: ${what}.`,
    { line, column },
    options,
  );
}
