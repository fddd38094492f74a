/** What a store is opened with. */
import type { Declarations } from '../contract/contexts.ts';
import type { StoreLimits } from './arrivals.ts';
import type { FileSystem, SyncKind } from './file-system.ts';
import type { StoreRooms } from './root.ts';
import type { Peers, ReserveSize } from './space-reserve.ts';
import { defaultThreads } from './worker-pool.ts';

export interface StoreOptions {
  /** The C3 declarations in force (PW-07.01). */
  readonly declarations: Declarations;
  /**
   * Threads in which payloads are written, read back and proven; `auto` is one per processor, at most eight. 0, the default,
   * does it in the calling thread: the same code, but the event loop waits for the disk.
   */
  readonly threads?: number | 'auto';
  /** Another file system than the machine's. It cannot travel to threads: all work is then done in the calling thread. */
  readonly fileSystem?: FileSystem;
  readonly limits?: StoreLimits;
  /** Bytes of the file system that publications leave free; 0, the default, leaves that to the disk. */
  readonly reserveBytes?: ReserveSize;
  /** `always`, the default, proves every byte at every read; `once` see `ProofMemory`. */
  readonly verify?: 'always' | 'once';
  /** Milliseconds after which `once` proves again; one hour by default. */
  readonly verifyMaxAgeMs?: number;
  /** What the whole process may remember of manifests and proofs, in bytes; 32 MiB by default. */
  readonly cacheBytes?: number;
  /** Contents of Linux's `/proc/self/mountinfo`, to notice bind mounts at the start. */
  readonly mountTable?: string;
  readonly observer?: StoreObserver;
  /** The store's directories as another process of the same service has found them at its start. */
  readonly rooms?: StoreRooms | null;
  /** The other processes of the same service, whose uploads take of the same disk. */
  readonly peers?: Peers | null;
}

export const DEFAULT_MAX_AGE_MS = 60 * 60 * 1000;
export const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;

export function threadsOf({ threads = 0 }: Pick<StoreOptions, 'threads'>): number {
  return threads === 'auto' ? defaultThreads() : threads;
}

/** What a service wants to know of its store while it runs. */
export interface StoreObserver {
  /** How long a sync took, in seconds, also one that failed. */
  readonly syncTook?: (kind: SyncKind, seconds: number) => void;
  /** A thread died; another one takes its place. */
  readonly threadLost?: (error: Error) => void;
}
