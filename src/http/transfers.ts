/** Which transfers run: bounds on uploads at once and on the memory of downloads, and what stopping has to wait for. */
import { SnapshotError } from '../contract/errors.ts';
import { READER_BYTES } from '../store/blocks.ts';
import { shareOf } from '../shares.ts';
import type { Exchange } from './connections.ts';

const RETRY_AFTER_SECONDS = 5;

/** Listings that run at once: pages, which end by themselves, and whole ones, which go at the pace of their readers. */
const LISTINGS = { places: 8, queue: 64, waitMs: 2_000 };
/**
 * Reads of one sort that the store works on at once. What it gives, a manifest or a small array, is counted as soon as it
 * is there; many more at once would pile up before that. Those that wait hold nothing.
 */
const READS = { places: 64, queue: 4_096, waitMs: 60_000 };
/** Each works on all cores, and where keys have to be put in order it holds up to some 100 MiB. */
const COMPARISONS = { places: 2, queue: 64, waitMs: 60_000 };

/** Which uploads may run, of this process or of all that serve the root. */
export interface UploadPermits {
  readonly max: number;
  /** False where as many run as may; otherwise `giveBack` is owed. */
  take(): boolean | Promise<boolean>;
  giveBack(): void;
}

/** What uploads, downloads and other readers may take. */
export interface TransferBounds {
  readonly uploads: UploadPermits;
  /** In memory, of all downloads of this process. */
  readonly downloadBytes: number;
  /** Among which the places of listings and reads are divided. */
  readonly processes: number;
}

/** Permits of a process that has no others beside it. */
export function ownPermits(max: number): UploadPermits {
  let taken = 0;
  return {
    max,
    take: () => {
      if (taken >= max) return false;
      taken += 1;
      return true;
    },
    giveBack: () => {
      taken -= 1;
    },
  };
}

export class Transfers {
  readonly #permits: UploadPermits;
  readonly #maxDownloadBytes: number;
  #uploads = 0;
  #downloads = 0;
  #downloadBytes = 0;
  readonly #pages: Slots;
  readonly #wholeListings: Slots;
  readonly #reads: Readonly<Record<'manifest' | 'array' | 'comparison', Slots>>;
  #stopping = false;

  constructor({ uploads, downloadBytes, processes }: TransferBounds) {
    this.#permits = uploads;
    this.#maxDownloadBytes = downloadBytes;
    const slots = ({ places, queue, waitMs }: SlotBounds): Slots =>
      new Slots({ places: shareOf(places, processes), queue: shareOf(queue, processes), waitMs });
    this.#pages = slots(LISTINGS);
    this.#wholeListings = slots(LISTINGS);
    this.#reads = { manifest: slots(READS), array: slots(READS), comparison: slots(COMPARISONS) };
  }

  get uploads(): number {
    return this.#uploads;
  }

  get downloads(): number {
    return this.#downloads;
  }

  /** Bytes in memory that wait for readers. */
  get downloadBytes(): number {
    return this.#downloadBytes;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** From now on every new request is refused with `unavailable`. */
  stop(): void {
    this.#stopping = true;
  }

  checkRunning(): void {
    if (!this.#stopping) return;
    throw new SnapshotError(
      'unavailable',
      'The service is stopping; try again once it has been started anew.',
      {
        retry_after_seconds: RETRY_AFTER_SECONDS,
      },
    );
  }

  /** Throws `unavailable` when as many uploads run as may; otherwise call the returned function at the end. */
  async beginUpload(): Promise<() => void> {
    if (!(await this.#permits.take())) {
      throw new SnapshotError(
        'unavailable',
        `${this.#permits.max} uploads are running, which is the limit; try again in a moment.`,
        { retry_after_seconds: RETRY_AFTER_SECONDS },
      );
    }
    this.#uploads += 1;
    return once(() => {
      this.#uploads -= 1;
      this.#permits.giveBack();
    });
  }

  /**
   * Waits shortly for its turn where as many listings of the sort run as may. Throws `unavailable` after that; otherwise
   * call the returned function at the end. Ends with its exchange in any case.
   */
  async beginListing(exchange: Exchange, sort: 'page' | 'whole'): Promise<() => void> {
    const slots = sort === 'page' ? this.#pages : this.#wholeListings;
    const release = await slots.take(exchange.signal);
    if (release === null) {
      throw new SnapshotError(
        'unavailable',
        sort === 'page'
          ? `${LISTINGS.places} pages are being made, which is the limit; try again in a moment.`
          : `${LISTINGS.places} whole listings run, which is the limit; try again in a moment, or ask for pages with limit.`,
        { retry_after_seconds: RETRY_AFTER_SECONDS },
      );
    }
    exchange.whenOver(release);
    return release;
  }

  /** Has the store read in its turn. Throws `unavailable` when too many wait, or one too long; ends with its exchange. */
  async reading<T>(
    { signal }: Exchange,
    sort: 'manifest' | 'array' | 'comparison',
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const release = await this.#reads[sort].take(signal);
    if (release === null) {
      throw new SnapshotError('unavailable', 'Too many reads wait for their turn; try again in a moment.', {
        retry_after_seconds: RETRY_AFTER_SECONDS,
      });
    }
    try {
      return await read(signal);
    } finally {
      release();
    }
  }

  /**
   * Counts a download and the bytes that it holds in memory, those of a reader in blocks unless given, until its exchange is
   * over. Throws `unavailable` when readers that are slower than the disk hold as much as may be held, unless told not to
   * refuse.
   */
  beginDownload(exchange: Exchange, bytes = READER_BYTES, { refuse = true } = {}): void {
    if (refuse && this.#downloads > 0 && this.#downloadBytes + bytes > this.#maxDownloadBytes) {
      throw new SnapshotError(
        'unavailable',
        `Downloads hold ${this.#downloadBytes} bytes of memory, of at most ${this.#maxDownloadBytes}; try again in a moment.`,
        { retry_after_seconds: RETRY_AFTER_SECONDS },
      );
    }
    this.#downloads += 1;
    this.#downloadBytes += bytes;
    exchange.whenOver(() => {
      this.#downloads -= 1;
      this.#downloadBytes -= bytes;
    });
  }
}

interface SlotBounds {
  readonly places: number;
  /** How many may wait, and for how long. */
  readonly queue: number;
  readonly waitMs: number;
}

/** A number of places, and a queue for them. */
class Slots {
  readonly #bounds: SlotBounds;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Null where no place became free in time; otherwise call the returned function, once or more, to give it back. */
  async take(signal: AbortSignal): Promise<(() => void) | null> {
    if (this.#taken >= this.#bounds.places && !(await this.#wait(signal))) return null;
    signal.throwIfAborted();
    this.#taken += 1;
    return once(() => {
      this.#taken -= 1;
      const [next] = this.#waiting;
      next?.();
    });
  }

  /** True once a place is free; the place must be taken in the same turn. */
  async #wait(signal: AbortSignal): Promise<boolean> {
    if (this.#waiting.size >= this.#bounds.queue) return false;
    const deadline = performance.now() + this.#bounds.waitMs;
    while (this.#taken >= this.#bounds.places) {
      const left = deadline - performance.now();
      if (left <= 0 || signal.aborted) return false;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, left);
        signal.addEventListener('abort', done);
        this.#waiting.add(done);
      });
    }
    return true;
  }
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}
