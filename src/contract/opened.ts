/** A snapshot as its readers get it, from a store or from a service (PW-07.05, PW-07.18). */
import type { ReadonlyIntegerArray } from './dtypes.ts';
import type { ArrayKey } from './ids.ts';
import type { Manifest } from './manifest.ts';

/** A manifest whose package was proven byte by byte. */
export interface ProvenManifest {
  readonly manifest: Manifest;
  /** The exact stored bytes. */
  readonly manifestBytes: Uint8Array;
  /** Of these bytes; what `complete.sha256` holds. */
  readonly manifestSha256: string;
  /** Whether the package holds an intent.json too, which is always canonical `{"snapshot_id":"<id>"}`. */
  readonly hasIntent: boolean;
}

/** A snapshot in memory: exact metadata and owned copies of its arrays. */
export interface OpenedSnapshot extends ProvenManifest {
  readonly metadata: Manifest['snapshot'];
  /** By key, without a prototype: `constructor` is a legal key. */
  readonly arrays: Readonly<Record<ArrayKey, ReadonlyIntegerArray>>;
}
