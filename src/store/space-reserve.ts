/**
 * Keeps some of the disk free, so that it never runs full under a publication: refused before, not broken during. What
 * publications have announced and not written yet is not free any more, nor what is on its way to the disk.
 */
import { SnapshotError } from '../contract/errors.ts';
import type { FileSystemWriter, FreeRoom } from './file-system.ts';

/** At most so many payload bytes, of all publications together, pass between two looks at the file system. */
const LOOK_EVERY_BYTES = 64n * 1024n * 1024n;

/** For how long a look holds that found a multiple of the reserve free: a disk is not filled in so short a time. */
const LOOK_HOLDS_MS = 250;
const AMPLE_RESERVES = 16n;
const AMPLE_INODES = 100_000n;

const AUTO_MAX_BYTES = 64n * 1024n * 1024n;

/** Bytes that a file takes beside its contents: its end is in a block of its own. */
const FILE_BYTES = 4096n;
/** What a publication makes beside its arrays: its directory, intent, manifest and marker. */
const OWN_FILES = 4n;

/** Bytes that stay free; `auto` is one percent of the file system, at most 64 MiB; 0 switches the check off. */
export type ReserveSize = number | 'auto';

export interface Announced {
  /** Payload bytes that are to come; 0 where that is not known. */
  readonly bytes: bigint;
  /** Arrays, each a file. */
  readonly files: number;
}

/** What one publication may still take. */
export interface SpaceClaim {
  /** Passes chunks on. Throws `insufficient_storage` before what they need would be taken from the reserve. */
  guard(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void>;
  /** So many of the bytes that were passed on are in their file, and no longer free to the system either. */
  stored(bytes: number): void;
  /** Whatever was not used is free for others. */
  end(): void;
}

export class SpaceReserve {
  readonly #fs: FileSystemWriter;
  readonly #root: string;
  readonly #size: ReserveSize;
  /** Announced by publications under way and not arrived yet. */
  #announced = 0n;
  /** Arrived and not in a file yet. */
  #onTheWay = 0n;
  /** Files that publications under way will have made. */
  #files = 0n;
  /** What may arrive unannounced before the next look. */
  #allowance = 0n;
  #ampleUntil = 0;
  #ample = 0n;

  constructor(fs: FileSystemWriter, root: string, size: ReserveSize) {
    this.#fs = fs;
    this.#root = root;
    this.#size = size;
  }

  /** Throws `insufficient_storage` unless so much more fits above the reserve, beside all that is under way. */
  async check({ bytes, files }: Announced): Promise<void> {
    if (this.#size === 0) return;
    const made = BigInt(files) + OWN_FILES;
    const more = bytes + made * FILE_BYTES;
    const underWay = this.#announced + this.#onTheWay + more;
    if (this.#allowance >= 0n && underWay < this.#ample && performance.now() < this.#ampleUntil) return;
    await this.#look(more, made);
  }

  async #look(more: bigint, made: bigint): Promise<void> {
    const room = await this.#fs.freeRoom(this.#root);
    const reserve = this.#size === 'auto' ? autoReserve(room.total) : BigInt(this.#size);
    const taken = this.#announced + this.#onTheWay;
    const left = room.free - taken - reserve - more;
    this.#allowance = least(left, LOOK_EVERY_BYTES);
    const isAmple = room.free > AMPLE_RESERVES * reserve && (room.freeInodes ?? AMPLE_INODES) >= AMPLE_INODES;
    this.#ampleUntil = isAmple ? performance.now() + LOOK_HOLDS_MS : 0;
    this.#ample = (reserve * AMPLE_RESERVES) / 2n;
    if (made > 0n) this.#checkInodes(room, made);
    if (left >= 0n) return;
    // What is refused takes nothing.
    this.#allowance += more;
    throw new SnapshotError(
      'insufficient_storage',
      `The disk has ${room.free} bytes free, of which ${reserve} are kept in reserve and ${taken} are promised to ` +
        `publications under way; ${more} more are needed. Free space, then publish again.`,
      {},
    );
  }

  /** The same for a publication, which then has what it announced for its own until `end`. */
  async claim(announced: Announced): Promise<SpaceClaim> {
    await this.check(announced);
    const { bytes, files } = announced;
    let ahead = this.#size === 0 ? 0n : bytes;
    let onTheWay = 0n;
    const made = BigInt(files) + OWN_FILES;
    this.#announced += ahead;
    this.#files += made;
    let ended = false;
    const arrive = async (length: bigint): Promise<void> => {
      const expected = least(ahead, length);
      ahead -= expected;
      this.#announced -= expected;
      onTheWay += length;
      this.#onTheWay += length;
      this.#allowance -= length - expected;
      if (this.#allowance >= 0n) return;
      try {
        await this.#look(0n, 0n);
      } catch (error) {
        // What is refused is not passed on, and stands in nobody's way.
        onTheWay -= length;
        this.#onTheWay -= length;
        this.#allowance += length;
        throw error;
      }
    };
    const guarded = this.#size !== 0;
    return {
      async *guard(chunks) {
        for await (const chunk of chunks) {
          if (guarded) await arrive(BigInt(chunk.length));
          yield chunk;
        }
      },
      stored: (length) => {
        const settled = least(onTheWay, BigInt(length));
        onTheWay -= settled;
        this.#onTheWay -= settled;
      },
      end: () => {
        if (ended) return;
        ended = true;
        this.#announced -= ahead;
        this.#onTheWay -= onTheWay;
        this.#files -= made;
        ahead = 0n;
        onTheWay = 0n;
      },
    };
  }

  #checkInodes({ freeInodes }: FreeRoom, needed: bigint): void {
    if (freeInodes === null || freeInodes - this.#files >= needed) return;
    throw new SnapshotError(
      'insufficient_storage',
      `The file system has ${freeInodes} inodes free, of which ${this.#files} are promised to publications under way; a ` +
        `snapshot takes one for each file, ${needed} are needed. Remove files that nobody needs from this disk, or make one ` +
        'with more inodes, then publish again.',
      {},
    );
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function autoReserve(total: bigint): bigint {
  const percent = total / 100n;
  return percent < AUTO_MAX_BYTES ? percent : AUTO_MAX_BYTES;
}
