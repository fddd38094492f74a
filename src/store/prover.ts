/** Where proving work runs: in the calling thread (`inlineProver`) or in worker threads (`worker-prover.ts`). */
import { createHash } from 'node:crypto';
import type { Declarations } from '../contract/contexts.ts';
import type { FileSystemReader } from './file-system.ts';
import { runTask, type TaskInput, type TaskKind, type TaskOutput } from './proof-tasks.ts';

/** A running SHA-256 over the blocks of one payload, in the order they are given. */
export interface PayloadHash {
  /** Resolves when `block` is no longer needed; its bytes must not change before. */
  update(block: Uint8Array): Promise<void>;
  /** 64 lowercase hex; the hash cannot be used afterwards. */
  digest(): Promise<string>;
  /** Forgets a hash whose digest nobody wants any more. */
  abandon(): void;
}

export interface Prover {
  run<K extends TaskKind>(kind: K, input: TaskInput<K>): Promise<TaskOutput<K>>;
  startHash(): PayloadHash;
  /** How many tasks are worth having under way at once. */
  readonly parallelism: number;
  close(): Promise<void>;
}

export function inlineHash(): PayloadHash {
  const hash = createHash('sha256');
  return {
    update: (block) => {
      hash.update(block);
      return Promise.resolve();
    },
    digest: () => Promise.resolve(hash.digest('hex')),
    abandon: () => undefined,
  };
}

export function inlineProver(fs: FileSystemReader, declarations: Declarations): Prover {
  return {
    run: (kind, input) => runTask(fs, declarations, kind, input),
    startHash: inlineHash,
    parallelism: 1,
    close: () => Promise.resolve(),
  };
}
