/**
 * Who may sync now. A sync holds a thread of the pool for as long as the disk takes; where syncs held them all, reads of
 * directories, writes and renames would wait behind a disk that is slow or hangs. So some threads are kept from syncs,
 * and one publication has few syncs under way, however many arrays it has: the others go on beside it.
 */
import type { FileSystem } from './file-system.ts';

/** Syncs of one publication at once: a small one has five, its arrays, its intent and its manifest. */
const SYNCS_OF_ONE = 8;
/** libuv's own, where nothing says otherwise, and its most. */
const POOL_DEFAULT = 4;
const POOL_MAX = 1024;

/** How many syncs may be under way in a pool of the size that `UV_THREADPOOL_SIZE` asks for; an eighth is for the rest. */
export function syncsAtOnce(poolSize: string | undefined): number {
  const asked = Number.parseInt(poolSize ?? String(POOL_DEFAULT), 10);
  const threads = Math.min(Math.max(Number.isNaN(asked) ? 1 : asked, 1), POOL_MAX);
  return Math.max(1, threads - Math.ceil(threads / 8));
}

/** A number of places; who finds none waits, first come first served. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place of one that ends is that of the first who waits.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

function syncingBy(fs: FileSystem, turns: Turns): FileSystem {
  return {
    ...fs,
    syncData: (file) => turns.run(() => fs.syncData(file)),
    sync: (file) => turns.run(() => fs.sync(file)),
    syncDirectory: (path) => turns.run(() => fs.syncDirectory(path)),
  };
}

/** The same port, whose syncs take turns. */
export function withSyncTurns(fs: FileSystem, places: number): FileSystem {
  return syncingBy(fs, new Turns(places));
}

/** The same port for one publication, which has few syncs under way. */
export function forOnePublication(fs: FileSystem): FileSystem {
  return syncingBy(fs, new Turns(SYNCS_OF_ONE));
}
