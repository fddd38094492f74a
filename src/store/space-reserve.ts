/** Keeps some of the disk free, so that it never runs full under a publication: refused before, not broken during. */
import { SnapshotError } from '../contract/errors.ts';
import type { FileSystemWriter } from './file-system.ts';

/** At most so many payload bytes, of all publications together, pass between two looks at the file system. */
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;
/** What passes between two looks must be small beside the reserve, or nothing of it would be left. */
const LOOKS_PER_RESERVE = 8;

/** For how long a look holds that found a multiple of the reserve free: a disk is not filled in so short a time. */
const LOOK_HOLDS_MS = 250;
const AMPLE_RESERVES = 16n;

const AUTO_MAX_BYTES = 64n * 1024n * 1024n;

/** Bytes that stay free; `auto` is one percent of the file system, at most 64 MiB; 0 switches the check off. */
export type ReserveSize = number | 'auto';

export class SpaceReserve {
  readonly #fs: FileSystemWriter;
  readonly #root: string;
  readonly #size: ReserveSize;
  #interval = 0;
  #unchecked = 0;
  #ampleUntil = 0;

  constructor(fs: FileSystemWriter, root: string, size: ReserveSize) {
    this.#fs = fs;
    this.#root = root;
    this.#size = size;
  }

  /** Throws `insufficient_storage` unless `upcomingBytes` more fit above the reserve. */
  async check(upcomingBytes: number): Promise<void> {
    if (this.#size === 0 || (upcomingBytes === 0 && performance.now() < this.#ampleUntil)) return;
    const { free, total } = await this.#fs.freeBytes(this.#root);
    const reserve = this.#size === 'auto' ? autoReserve(total) : BigInt(this.#size);
    this.#interval = Math.min(CHECK_EVERY_BYTES, Number(reserve) / LOOKS_PER_RESERVE);
    this.#unchecked = 0;
    this.#ampleUntil = free > AMPLE_RESERVES * reserve ? performance.now() + LOOK_HOLDS_MS : 0;
    if (free - BigInt(upcomingBytes) >= reserve) return;
    throw new SnapshotError(
      'insufficient_storage',
      `The disk has ${free} bytes free; ${reserve} are kept in reserve and ${upcomingBytes} more are needed. Free space, then publish again.`,
      {},
    );
  }

  /** Passes chunks on and looks again before what all publications wrote since the last look can use up the reserve. */
  async *guard(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of chunks) {
      this.#unchecked += chunk.length;
      if (this.#size !== 0 && this.#unchecked >= this.#interval) await this.check(chunk.length);
      yield chunk;
    }
  }
}

function autoReserve(total: bigint): bigint {
  const percent = total / 100n;
  return percent < AUTO_MAX_BYTES ? percent : AUTO_MAX_BYTES;
}
