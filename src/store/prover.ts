/** Where proving work runs: in the calling thread (`inlineProver`) or in worker threads (`worker-prover.ts`). */
import { createHash } from 'node:crypto';
import type { Declarations } from '../contract/contexts.ts';
import type { FileSystemReader } from './file-system.ts';
import { ReadBack, type ReadBackResult } from './read-back.ts';
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

/** A payload that is read back while it is written; see `ReadBack`, which does it. */
export interface PayloadReadBack {
  /** In the order of the file; resolves when `block` is no longer needed. */
  block(expected: Uint8Array): Promise<void>;
  finish(): Promise<ReadBackResult>;
  /** Closes what is open when nobody wants the result any more. */
  abandon(): Promise<void>;
}

export interface Prover {
  run<K extends TaskKind>(kind: K, input: TaskInput<K>): Promise<TaskOutput<K>>;
  startHash(): PayloadHash;
  /** `name` is how messages call the file. */
  startReadBack(path: string, name: string): PayloadReadBack;
  /** How many tasks are worth having under way at once. */
  readonly parallelism: number;
  close(): Promise<void>;
}

function inlineHash(): PayloadHash {
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

function inlineReadBack(fs: FileSystemReader, path: string, name: string): PayloadReadBack {
  const readBack = new ReadBack(fs, path, name);
  return {
    block: async (expected) => {
      await Promise.resolve();
      readBack.block(expected);
    },
    finish: async () => {
      await Promise.resolve();
      return readBack.finish();
    },
    abandon: async () => {
      await Promise.resolve();
      readBack.close();
    },
  };
}

export function inlineProver(fs: FileSystemReader, declarations: Declarations): Prover {
  return {
    run: (kind, input) => runTask(fs, declarations, kind, input),
    startHash: inlineHash,
    startReadBack: (path, name) => inlineReadBack(fs, path, name),
    parallelism: 1,
    close: () => Promise.resolve(),
  };
}
