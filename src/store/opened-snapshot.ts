/** A snapshot as library callers get it (PW-07.05). */
import type { ArrayKey } from '../contract/ids.ts';
import type { Manifest } from '../contract/manifest.ts';
import type { ReadonlyIntegerArray } from './opened-arrays.ts';

/** A snapshot in memory: exact metadata and owned copies of its arrays. */
export interface OpenedSnapshot {
  readonly metadata: Manifest['snapshot'];
  readonly manifest: Manifest;
  /** The exact stored bytes of the manifest. */
  readonly manifestBytes: Uint8Array;
  readonly manifestSha256: string;
  /** By key, without a prototype: `constructor` is a legal key. */
  readonly arrays: Readonly<Record<ArrayKey, ReadonlyIntegerArray>>;
}

const decoder = new TextDecoder();

/** Safe only for bytes that were just proven canonical: then `JSON.parse` loses nothing. */
export function parseProven(bytes: Uint8Array): Manifest {
  const manifest = JSON.parse(decoder.decode(bytes)) as Manifest;
  // `__proto__` is no legal key, but `constructor` is: lookups must not find the prototype's.
  return {
    ...manifest,
    arrays: Object.assign(Object.create(null) as object, manifest.arrays),
  };
}
