/** Which transfers run: a bound on uploads at once, and what stopping has to wait for. */
import { SnapshotError } from '../contract/errors.ts';

const RETRY_AFTER_SECONDS = 5;

export class Transfers {
  readonly #maxUploads: number;
  #uploads = 0;
  #downloads = 0;
  #stopping = false;

  constructor(maxUploads: number) {
    this.#maxUploads = maxUploads;
  }

  get uploads(): number {
    return this.#uploads;
  }

  get downloads(): number {
    return this.#downloads;
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

  beginDownload(): () => void {
    this.#downloads += 1;
    return once(() => (this.#downloads -= 1));
  }
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}
