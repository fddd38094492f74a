/**
 * Shares directory fsyncs between publications. A sync that begins after a rename covers it, so everyone who waits while
 * one is under way joins the next one. A failure reaches all who relied on that sync and all who wait for the next one:
 * the failed sync may have carried their renames too, and a kernel that has reported a lost write once calls the next
 * sync a success. Who comes later begins anew.
 */
import type { FileSystemWriter } from './file-system.ts';

interface Running {
  readonly current: Promise<void>;
  next: Promise<void> | null;
}

export class DirectorySyncs {
  readonly #fs: FileSystemWriter;
  readonly #running = new Map<string, Running>();
  readonly #failures = new Map<string, number>();

  constructor(fs: FileSystemWriter) {
    this.#fs = fs;
  }

  /** Resolves once a sync that began after this call has succeeded. */
  sync(path: string): Promise<void> {
    const running = this.#running.get(path);
    if (running === undefined) return this.#begin(path);
    running.next ??= running.current.then(() => this.#begin(path));
    return running.next;
  }

  /**
   * How many syncs of a directory have failed so far. One that fails after a rename began may have carried it, whoever
   * asked for the sync: a later success then proves nothing.
   */
  failures(path: string): number {
    return this.#failures.get(path) ?? 0;
  }

  #begin(path: string): Promise<void> {
    const current = this.#fs.syncDirectory(path);
    const entry: Running = { current, next: null };
    this.#running.set(path, entry);
    const forget = (): void => {
      if (this.#running.get(path) === entry) this.#running.delete(path);
    };
    current.then(
      () => {
        if (entry.next === null) forget();
      },
      () => {
        this.#failures.set(path, this.failures(path) + 1);
        forget();
      },
    );
    return current;
  }
}
