/** Unsigned 64-bit integers as JSON carries them: decimal strings, exact beyond 2^53 (PW-07.01). */

export const UINT64_MAX = 2n ** 64n - 1n;

/** The text form: no sign, no blank, no leading zero. The bound is `UINT64_MAX`, which a pattern cannot say well. */
export const UINT64_PATTERN = /^(?:0|[1-9][0-9]{0,19})$/;

const UINT64_MAX_TEXT = UINT64_MAX.toString();

/** Tells whether `value` is the decimal text of an unsigned 64-bit integer in its one canonical spelling. */
export function isUint64(value: unknown): value is string {
  return (
    typeof value === 'string' && UINT64_PATTERN.test(value) && compareUint64(value, UINT64_MAX_TEXT) <= 0
  );
}

/** Orders two canonical uint64 texts by value: negative, zero or positive. */
export function compareUint64(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
