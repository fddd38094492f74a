/**
 * What was proven before, for `verify: 'once'`: per process, the state (device, inode, size, mtime, ctime) in which each
 * payload's checksum last held. Any change of that state, or an age above the limit, makes the next read prove it again.
 * What changes bytes without changing that state goes unnoticed until then: a writer through a shared mapping, whose times
 * the system moves late or never, and a disk that rots.
 */
import type { SnapshotId } from '../contract/ids.ts';
import { ByteBoundedCache } from './byte-bounded-cache.ts';
import { sameStamp, type FileStamp } from './file-system.ts';

/** What tells two states of one payload apart, on whatever it lies. */
export interface StampRules<S> {
  readonly same: (a: S, b: S) => boolean;
  /** The stamp alone, without what else a proof carries. */
  readonly only: (proof: S) => S;
  /** Whether it may be remembered by a proof that began at `wall`, in milliseconds since the epoch. */
  readonly isSettled: (stamp: S, wall: number) => boolean;
}

/**
 * A file that changed this shortly before its proof may change again within one tick of the file system's clock and keep
 * its stamp, so it is not remembered yet. Two seconds is the coarsest clock in use.
 */
const UNSETTLED_NS = 2_000_000_000n;

export const FILE_STAMPS: StampRules<FileStamp> = {
  same: sameStamp,
  only: ({ dev, ino, size, mtimeNs, ctimeNs }) => ({ dev, ino, size, mtimeNs, ctimeNs }),
  isSettled: ({ ctimeNs }, wall) => ctimeNs <= BigInt(Math.trunc(wall)) * 1_000_000n - UNSETTLED_NS,
};

/** Of one remembered file beside its name: five big integers, a number, the objects around them. */
const FILE_BYTES = 320;
const SNAPSHOT_BYTES = 256;

interface Proven<S> {
  readonly stamp: S;
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

/** Proofs by the name of the payload's file, as `known` gives and `remember` takes them. */
type Known<S> = Readonly<Record<string, S>>;

export class ProofMemory<S> {
  readonly #rules: StampRules<S>;
  readonly #maxAgeMs: number;
  readonly #now: () => Moment;
  readonly #proven: ByteBoundedCache<SnapshotId, ReadonlyMap<string, Proven<S>>>;

  /** Beyond `maxBytes` the longest unread is forgotten, which only costs its next reader a proof. */
  constructor(rules: StampRules<S>, maxAgeMs: number, maxBytes: number, now: () => Moment = systemClock) {
    this.#rules = rules;
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

  known(id: SnapshotId): Known<S> {
    const oldest = this.#now().monotonic - this.#maxAgeMs;
    const known: Record<string, S> = {};
    for (const [file, { stamp, at }] of this.#proven.get(id) ?? []) if (at >= oldest) known[file] = stamp;
    return known;
  }

  /**
   * `offered` is what `known` returned for the read that yielded `proven`: a skipped proof keeps its age. A proof is as old
   * as its beginning, however long it took.
   */
  remember(id: SnapshotId, offered: Known<S>, proven: Known<S>, startedAt: Moment): void {
    const files = new Map(this.#proven.get(id));
    for (const [file, proof] of Object.entries(proven)) {
      const stamp = this.#rules.only(proof);
      if (!this.#rules.isSettled(stamp, startedAt.wall)) continue;
      const before = offered[file];
      if (before === undefined || !this.#rules.same(before, stamp))
        files.set(file, { stamp, at: startedAt.monotonic });
    }
    let bytes = SNAPSHOT_BYTES;
    for (const file of files.keys()) bytes += FILE_BYTES + 2 * file.length;
    this.#proven.set(id, files, bytes);
  }
}
