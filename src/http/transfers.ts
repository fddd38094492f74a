/** Which transfers run: bounds on uploads at once and on the memory of downloads, and what stopping has to wait for. */
import { SnapshotError } from '../contract/errors.ts';
import { READER_BYTES } from '../store/blocks.ts';
import type { Exchange } from './connections.ts';

const RETRY_AFTER_SECONDS = 5;

export class Transfers {
  readonly #maxUploads: number;
  readonly #maxDownloadBytes: number;
  #uploads = 0;
  #downloads = 0;
  #downloadBytes = 0;
  #stopping = false;

  /** @param maxDownloadBytes that all downloads together may hold in memory */
  constructor(maxUploads: number, maxDownloadBytes: number) {
    this.#maxUploads = maxUploads;
    this.#maxDownloadBytes = maxDownloadBytes;
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
  beginUpload(): () => void {
    if (this.#uploads >= this.#maxUploads) {
      throw new SnapshotError(
        'unavailable',
        `${this.#maxUploads} uploads are running, which is the limit; try again in a moment.`,
        { retry_after_seconds: RETRY_AFTER_SECONDS },
      );
    }
    this.#uploads += 1;
    return once(() => (this.#uploads -= 1));
  }

  /**
   * Counts a download and the bytes that it holds in memory, those of a reader in blocks unless given, until its exchange is
   * over. Throws `unavailable` when readers
   * that are slower than the disk hold as much as may be held.
   */
  beginDownload(exchange: Exchange, bytes = READER_BYTES): void {
    if (this.#downloads > 0 && this.#downloadBytes + bytes > this.#maxDownloadBytes) {
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

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}
