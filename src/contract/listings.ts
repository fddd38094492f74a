/** What listings are made of, in the store, on the wire and in the client (CONTRACT section 3, PW-07.18). */
import type { SnapshotId } from './ids.ts';
import type { CoverageStatus, Resolution } from './manifest.ts';

export interface SnapshotSummary {
  readonly snapshot_id: SnapshotId;
  readonly parent_id: SnapshotId | null;
  readonly source_namespace: string;
  readonly source_version: string;
  readonly scope: string;
  readonly resolution: Resolution;
  readonly coverage_status: CoverageStatus;
  /** Epoch nanoseconds, decimal. */
  readonly started_at_ns: string;
  readonly finished_at_ns: string;
  readonly array_count: number;
  /** Sum of the payloads' bytes, decimal. */
  readonly byte_length: string;
  readonly manifest_sha256: string;
}

/** What cannot be proven, in a listing that shows it among the others instead of failing. */
export interface DamagedSnapshot {
  /** The name of the entry: an id, or whatever foreign thing lies there. */
  readonly snapshot_id: string;
  readonly problem: { readonly code: string; readonly detail: string };
}

/** STAGING: an intent without a marker. VALIDATED: a whole package that was never renamed into place. */
export const PHASES = ['STAGING', 'VALIDATED', 'INVALID', 'UNAVAILABLE'] as const;
export type Phase = (typeof PHASES)[number];

export interface IncompleteAttempt {
  /** Relative to the root: `staging/<name>`. */
  readonly path: string;
  readonly snapshot_id: SnapshotId | null;
  readonly phase: Phase;
  readonly diagnostic: string;
  /** Sum of the sizes of the regular files in it, decimal. */
  readonly byte_length: string;
  /** The latest modification of the attempt or one of its files, ISO 8601 in UTC. */
  readonly modified_at: string | null;
}
