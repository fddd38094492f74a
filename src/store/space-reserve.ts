/**
 * Keeps some of the disk free, so that it never runs full under a publication: refused before, not broken during. What
 * publications have announced and not written yet is not free any more, nor what is on its way to the disk.
 */
import { SnapshotError } from '../contract/errors.ts';
import type { FileSystemWriter, FreeRoom } from './file-system.ts';

/** At most so many payload bytes, of all publications together, pass between two looks at the file system. */
const LOOK_EVERY_BYTES = 64n * 1024n * 1024n;

/**
 * Beside other processes so many bytes and files are promised in advance, so that not every small publication has to be told;
 * half of the bytes are for what arrives unannounced between two looks.
 */
const AHEAD = { bytes: 4n * 1024n * 1024n, files: 1_000n };

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

/** What a process has promised to publications under way. */
export interface Promised {
  readonly bytes: bigint;
  readonly files: bigint;
}

/** The other processes of the same service, which write to the same disk. */
export interface Peers {
  /** Says what this process has promised from now on; gives what all others have. */
  readonly exchange: (own: Promised) => Promise<Promised>;
  /** Says that it has promised less than before. */
  readonly tell: (own: Promised) => void;
}

const NOTHING: Promised = { bytes: 0n, files: 0n };

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
  readonly #peers: Peers | null;
  /** What the others know of: never less than what is promised here. */
  #told = NOTHING;
  /** One claim after the other: two that look at the same time would both be given what one of them takes. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Announced by publications under way and not arrived yet. */
  #announced = 0n;
  /** Arrived and not in a file yet. */
  #onTheWay = 0n;
  /** All that ever was on the way and is in a file by now. */
  #stored = 0n;
  /** Asked for at the moment, and perhaps about to be refused: nothing is kept from anybody here for it. */
  #asked = 0n;
  #askedFiles = 0n;
  /** Files that publications under way will have made. */
  #files = 0n;
  /** What may arrive unannounced before the next look. */
  #allowance = 0n;
  #ampleUntil = 0;
  #ample = 0n;

  constructor(fs: FileSystemWriter, root: string, size: ReserveSize, peers: Peers | null = null) {
    this.#peers = peers;
    this.#fs = fs;
    this.#root = root;
    this.#size = size;
  }

  /** Throws `insufficient_storage` unless so much more fits above the reserve, beside all that is under way. */
  async check(announced: Announced): Promise<void> {
    await this.#asking(announced, (more, made) => this.#check(more, made));
  }

  /** While a question is open, the others know what it is about; when it is answered, only what was promised. */
  async #asking<T>(
    { bytes, files }: Announced,
    question: (more: bigint, made: bigint) => Promise<T>,
  ): Promise<T> {
    const made = BigInt(files) + OWN_FILES;
    const more = bytes + made * FILE_BYTES;
    this.#asked += more;
    this.#askedFiles += made;
    try {
      return await question(more, made);
    } finally {
      this.#asked -= more;
      this.#askedFiles -= made;
      this.#settle();
    }
  }

  async #check(more: bigint, made: bigint): Promise<void> {
    if (this.#size === 0) return;
    const underWay = this.#announced + this.#onTheWay + more;
    const isAmple = underWay < this.#ample && performance.now() < this.#ampleUntil;
    if (this.#allowance >= 0n && isAmple && this.#isTold(underWay, this.#files + made)) return;
    await this.#look(more, made);
  }

  #isTold(bytes: bigint, files: bigint): boolean {
    return this.#peers === null || (bytes + this.#lookEvery <= this.#told.bytes && files <= this.#told.files);
  }

  get #lookEvery(): bigint {
    return this.#peers === null ? LOOK_EVERY_BYTES : AHEAD.bytes / 2n;
  }

  /** What the others have promised, after they were told what is promised and asked for here. */
  async #exchange(): Promise<Promised> {
    if (this.#peers === null) return NOTHING;
    this.#told = this.#withAhead();
    return this.#peers.exchange(this.#told);
  }

  #withAhead(): Promised {
    return {
      bytes: this.#announced + this.#onTheWay + this.#asked + AHEAD.bytes,
      files: this.#files + this.#askedFiles + AHEAD.files,
    };
  }

  /** Gives back before the others what is not promised any more, where it is much. */
  #settle(): void {
    if (this.#peers === null) return;
    const now = this.#withAhead();
    if (this.#told.bytes - now.bytes <= AHEAD.bytes && this.#told.files - now.files <= AHEAD.files) return;
    this.#told = now;
    this.#peers.tell(now);
  }

  async #look(more: bigint, made: bigint): Promise<void> {
    const others = await this.#exchange();
    const storedBefore = this.#stored;
    const room = await this.#fs.freeRoom(this.#root);
    const reserve = this.#size === 'auto' ? autoReserve(room.total) : BigInt(this.#size);
    // What came into its file meanwhile may have been free still when the system looked.
    const settledMeanwhile = this.#stored - storedBefore;
    const taken = this.#announced + this.#onTheWay + settledMeanwhile + others.bytes;
    const left = room.free - taken - reserve - more;
    this.#allowance = least(left, this.#lookEvery);
    const isAmple =
      room.free - others.bytes > AMPLE_RESERVES * reserve &&
      (room.freeInodes ?? AMPLE_INODES + others.files) - others.files >= AMPLE_INODES;
    this.#ampleUntil = isAmple ? performance.now() + LOOK_HOLDS_MS : 0;
    this.#ample = (reserve * AMPLE_RESERVES) / 2n;
    if (made > 0n) this.#checkInodes(room, made, others.files);
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
  claim(announced: Announced): Promise<SpaceClaim> {
    const claimed = this.#turn.then(() =>
      this.#asking(announced, async (more, made) => {
        await this.#check(more, made);
        return this.#promise(announced, made);
      }),
    );
    this.#turn = claimed.catch(() => undefined);
    return claimed;
  }

  #promise({ bytes }: Announced, made: bigint): SpaceClaim {
    let ahead = this.#size === 0 ? 0n : bytes;
    let onTheWay = 0n;
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
        this.#stored += settled;
        this.#settle();
      },
      end: () => {
        if (ended) return;
        ended = true;
        this.#announced -= ahead;
        this.#onTheWay -= onTheWay;
        this.#files -= made;
        ahead = 0n;
        onTheWay = 0n;
        this.#settle();
      },
    };
  }

  #checkInodes({ freeInodes }: FreeRoom, needed: bigint, byOthers: bigint): void {
    const promised = this.#files + byOthers;
    if (freeInodes === null || freeInodes - promised >= needed) return;
    throw new SnapshotError(
      'insufficient_storage',
      `The file system has ${freeInodes} inodes free, of which ${promised} are promised to publications under way; a ` +
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
