/** The manifest of a package that was just proven. */
import type { Manifest } from '../contract/manifest.ts';

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
