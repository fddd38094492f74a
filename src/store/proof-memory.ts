/**
 * What was proven before, for `verify: 'once'`: per process, the state (device, inode, size, mtime, ctime) in which each
 * payload's checksum last held. Any change of that state, or an age above the limit, makes the next read prove it again.
 * What changes bytes without changing that state goes unnoticed until then: a writer through a shared mapping, whose times
 * the system moves late or never, and a disk that rots.
 */
import type { SnapshotId } from '../contract/ids.ts';
import { ByteBoundedCache } from './byte-bounded-cache.ts';
import { sameStamp, type FileStamp } from './file-system.ts';
import type { KnownProofs } from './payload-proof.ts';

/**
 * A file that changed this shortly before its proof may change again within one tick of the file system's clock and keep
 * its stamp, so it is not remembered yet. Two seconds is the coarsest clock in use.
 */
const UNSETTLED_NS = 2_000_000_000n;

/** Of one remembered file beside its name: five big integers, a number, the objects around them. */
const FILE_BYTES = 320;
const SNAPSHOT_BYTES = 256;

interface Proven {
  readonly stamp: FileStamp;
  /** By the clock that only goes forward. */
  readonly at: number;
}

/** A moment by both clocks. */
export interface Moment {
  /** Milliseconds by a clock that only goes forward, for ages: one that is set back would keep proofs for ever. */
  readonly monotonic: number;
  /** Milliseconds since the epoch, to compare with the times of files. */
  readonly wall: number;
}

const systemClock = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

export class ProofMemory {
  readonly #maxAgeMs: number;
  readonly #now: () => Moment;
  readonly #proven: ByteBoundedCache<SnapshotId, ReadonlyMap<string, Proven>>;

  /** Beyond `maxBytes` the longest unread is forgotten, which only costs its next reader a proof. */
  constructor(maxAgeMs: number, maxBytes: number, now: () => Moment = systemClock) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
    this.#proven = new ByteBoundedCache(maxBytes);
  }

  /** About what the memory takes, in bytes. */
  get bytes(): number {
    return this.#proven.bytes;
  }

  /** To be taken before a proof begins. */
  now(): Moment {
    return this.#now();
  }

  known(id: SnapshotId): KnownProofs {
    const oldest = this.#now().monotonic - this.#maxAgeMs;
    const known: Record<string, FileStamp> = {};
    for (const [file, { stamp, at }] of this.#proven.get(id) ?? []) if (at >= oldest) known[file] = stamp;
    return known;
  }

  /**
   * `offered` is what `known` returned for the read that yielded `proven`: a skipped proof keeps its age. A proof is as old
   * as its beginning, however long it took.
   */
  remember(id: SnapshotId, offered: KnownProofs, proven: KnownProofs, startedAt: Moment): void {
    const files = new Map(this.#proven.get(id));
    const settledBefore = BigInt(Math.trunc(startedAt.wall)) * 1_000_000n - UNSETTLED_NS;
    for (const [file, { dev, ino, size, mtimeNs, ctimeNs }] of Object.entries(proven)) {
      if (ctimeNs > settledBefore) continue;
      const stamp = { dev, ino, size, mtimeNs, ctimeNs };
      const before = offered[file];
      if (before === undefined || !sameStamp(before, stamp))
        files.set(file, { stamp, at: startedAt.monotonic });
    }
    let bytes = SNAPSHOT_BYTES;
    for (const file of files.keys()) bytes += FILE_BYTES + 2 * file.length;
    this.#proven.set(id, files, bytes);
  }
}
