/** Names that become parts of paths: snapshot ids and array keys, and the one file name a key stands for (PW-07.02). */

/** 32 lowercase hex digits; a UUID-style identifier, never a path. */
export type SnapshotId = string;

/** A lowercase letter, then up to 63 of lowercase letters, digits and `_`. `constructor` and `con` are legal keys. */
export type ArrayKey = string;

// JavaScript's `$` without the `m` flag matches only at the very end, so a trailing newline is refused.
export const SNAPSHOT_ID_PATTERN = /^[0-9a-f]{32}$/;
export const ARRAY_KEY_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

const PAYLOAD_FILE_NAME = /^array-([a-z][a-z0-9_]{0,63})\.bin$/;

/** Tells whether `value` is a snapshot id as a whole string (PW-07.01). */
export function isSnapshotId(value: unknown): value is SnapshotId {
  return typeof value === 'string' && SNAPSHOT_ID_PATTERN.test(value);
}

/** Tells whether `value` is an array key as a whole string (PW-07.02). */
export function isArrayKey(value: unknown): value is ArrayKey {
  return typeof value === 'string' && ARRAY_KEY_PATTERN.test(value);
}

/** The payload file of a key. The prefix keeps every legal key clear of Windows' reserved base names (PW-07.02). */
export function payloadFileName(key: ArrayKey): string {
  return `array-${key}.bin`;
}

/** The key whose payload file is called `name`, or null if `name` is not a payload file name. */
export function arrayKeyOfFileName(name: string): ArrayKey | null {
  return PAYLOAD_FILE_NAME.exec(name)?.[1] ?? null;
}
