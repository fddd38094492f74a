/** The spellings of names that become parts of paths (PW-07.02), and of digests. */

/** 32 lowercase hex digits; a UUID-style identifier, never a path. */
export type SnapshotId = string;

/** A lowercase letter, then up to 63 of lowercase letters, digits and `_`. `constructor` and `con` are legal keys. */
export type ArrayKey = string;

// JavaScript's `$` without the `m` flag matches only at the very end, so a trailing newline is refused.
export const SNAPSHOT_ID_PATTERN = /^[0-9a-f]{32}$/;
export const ARRAY_KEY_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
/** A SHA-256 as the contract writes it (PW-07.03). */
export const SHA256_HEX_PATTERN = /^[0-9a-f]{64}$/;

/** Tells whether `value` is a snapshot id as a whole string (PW-07.01). */
export function isSnapshotId(value: unknown): value is SnapshotId {
  return typeof value === 'string' && SNAPSHOT_ID_PATTERN.test(value);
}

/** Tells whether `value` is an array key as a whole string (PW-07.02). */
export function isArrayKey(value: unknown): value is ArrayKey {
  return typeof value === 'string' && ARRAY_KEY_PATTERN.test(value);
}
