/**
 * What was proven before, for `verify: 'once'`: per process, the state (device, inode, size, mtime, ctime) in which each
 * payload's checksum last held. Any change of that state, or an age above the limit, makes the next read prove it again.
 */
import type { SnapshotId } from '../contract/ids.ts';
import { sameStamp, type FileStamp } from './file-system.ts';
import type { KnownProofs } from './verification-request.ts';

/**
 * A file that changed this shortly before its proof may change again within one tick of the file system's clock and keep
 * its stamp, so it is not remembered yet. Two seconds is the coarsest clock in use.
 */
const UNSETTLED_NS = 2_000_000_000n;
/** Snapshots remembered; beyond, the longest unread is forgotten, which only costs its next reader a proof. */
const REMEMBERED_SNAPSHOTS = 10_000;

interface Proven {
  readonly stamp: FileStamp;
  readonly at: number;
}

export class ProofMemory {
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #proven = new Map<SnapshotId, Map<string, Proven>>();

  constructor(maxAgeMs: number, now: () => number = Date.now) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  /** Milliseconds by the memory's clock; to be taken before a proof begins. */
  now(): number {
    return this.#now();
  }

  known(id: SnapshotId): KnownProofs {
    const files = this.#proven.get(id);
    if (files === undefined) return {};
    const oldest = this.#now() - this.#maxAgeMs;
    const known: Record<string, FileStamp> = {};
    for (const [file, { stamp, at }] of files) if (at >= oldest) known[file] = stamp;
    return known;
  }

  /**
   * `offered` is what `known` returned for the read that yielded `proven`: a skipped proof keeps its age. A proof is as old
   * as its beginning, however long it took.
   */
  remember(id: SnapshotId, offered: KnownProofs, proven: KnownProofs, startedAt: number): void {
    const files = this.#proven.get(id) ?? new Map<string, Proven>();
    this.#proven.delete(id);
    this.#proven.set(id, files);
    const settledBefore = BigInt(Math.trunc(startedAt)) * 1_000_000n - UNSETTLED_NS;
    for (const [file, stamp] of Object.entries(proven)) {
      if (stamp.ctimeNs > settledBefore) continue;
      const before = offered[file];
      if (before === undefined || !sameStamp(before, stamp)) files.set(file, { stamp, at: startedAt });
    }
    if (this.#proven.size > REMEMBERED_SNAPSHOTS) {
      const [first] = this.#proven.keys();
      if (first !== undefined) this.#proven.delete(first);
    }
  }
}
