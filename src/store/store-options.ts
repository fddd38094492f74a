/** What a store is opened with. */
import type { Declarations } from '../contract/contexts.ts';
import type { FileSystem } from './file-system.ts';
import type { StoreLimits } from './incoming-payloads.ts';
import type { Prover } from './prover.ts';
import type { ReserveSize } from './space-reserve.ts';

export interface StoreOptions {
  /** The C3 declarations in force (PW-07.01). */
  readonly declarations: Declarations;
  /** Where proofs run; by default in the calling thread. */
  readonly prover?: Prover;
  readonly fileSystem?: FileSystem;
  readonly limits?: StoreLimits;
  /** Bytes of the file system that publications leave free; 0, the default, leaves that to the disk. */
  readonly reserveBytes?: ReserveSize;
  /** `always`, the default, proves every byte at every read; `once` see `ProofMemory`. */
  readonly verify?: 'always' | 'once';
  /** Milliseconds after which `once` proves again; one hour by default. */
  readonly verifyMaxAgeMs?: number;
  /** Contents of Linux's `/proc/self/mountinfo`, to notice bind mounts at the start. */
  readonly mountTable?: string;
}
