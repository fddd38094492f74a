/** The documents of the contract as types (PW-07.01). uint64 values are decimal strings, exact beyond 2^53. */

import type { Dtype } from './dtypes.ts';
import type { ArrayKey, SnapshotId } from './ids.ts';

export const FORMAT = 'pipewhy.snapshot';
export const VERSION = 1;
export const ARRAY_SCHEMA_VERSION = '1.0';
export const ENDIANNESS = 'little';

export const RESOLUTIONS = ['dataset', 'record', 'value'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const COVERAGE_STATUSES = ['COMPLETE', 'PARTIAL', 'UNAVAILABLE'] as const;
export type CoverageStatus = (typeof COVERAGE_STATUSES)[number];

export interface Coverage {
  readonly status: CoverageStatus;
  /** How many records the source should have given; null is unknown, which is not zero. */
  readonly expected_records: string | null;
  readonly returned_records: string;
  readonly failure_reasons: readonly string[];
}

/** The full C3 identity of the fingerprints' context, never a local handle (PW-07.01). */
export interface Fingerprint {
  readonly algorithm_name: string;
  readonly algorithm_id: string;
  readonly context_id: string;
  readonly normalization_profile_id: string;
  readonly source_schema_id: string;
  readonly mode: string;
}

export interface SnapshotMetadata {
  readonly snapshot_id: SnapshotId;
  readonly parent_id: SnapshotId | null;
  readonly source_namespace: string;
  readonly source_version: string;
  readonly source_consistency: string;
  readonly scope: string;
  /** Epoch nanoseconds; the end is not before the start. */
  readonly started_at_ns: string;
  readonly finished_at_ns: string;
  readonly resolution: Resolution;
  readonly coverage: Coverage;
  readonly fingerprint: Fingerprint;
}

/** What the manifest says of one payload (PW-07.02, PW-07.03). */
export interface ArrayEntry {
  /** `array-<key>.bin` */
  readonly file: string;
  readonly dtype: Dtype;
  /** Elements. */
  readonly count: string;
  /** Bytes: count times the dtype's width. */
  readonly byte_length: string;
  readonly endianness: typeof ENDIANNESS;
  /** Of the exact stored bytes, 64 lowercase hex digits. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly array_schema_version: typeof ARRAY_SCHEMA_VERSION;
  readonly snapshot: SnapshotMetadata;
  /** Has no prototype: `constructor` is a legal key. */
  readonly arrays: Readonly<Record<ArrayKey, ArrayEntry>>;
}

/** What a producer says of one array before its bytes are seen; what is given must turn out right. */
export interface DraftArray {
  /** May be left out only where the payload itself says it, as a `.npy` file does. */
  readonly dtype?: Dtype;
  readonly count?: string;
  readonly byte_length?: string;
  readonly sha256?: string;
  readonly file?: string;
  readonly endianness?: typeof ENDIANNESS;
}

/** The metadata document of a publication, checked. */
export interface DraftManifest {
  readonly snapshot: SnapshotMetadata;
  /** Has no prototype: `constructor` is a legal key. */
  readonly arrays: Readonly<Record<ArrayKey, DraftArray>>;
}
