/** Where proving work, and what goes with it block by block, runs: in the calling thread (`inlineProver`) or in worker threads (`worker-prover.ts`). */
import type { Declarations } from '../contract/contexts.ts';
import { readBlock, type BlockRead } from './block-reading.ts';
import type { Descriptor, FileSystem } from './file-system.ts';
import { writeFully } from './file-writing.ts';
import { ReadBack, type ReadBackResult } from './read-back.ts';
import { runTask, type TaskInput, type TaskKind, type TaskOutput } from './proof-tasks.ts';

/** A large payload that is read back and hashed while it is written; see `ReadBack`. */
export interface PayloadSink {
  /**
   * Writes at the end of what was written before and reads that back; resolves when `bytes` is no longer needed. Need not
   * be awaited before the next call: blocks are stored in order, one at a time, as two writes into one file only make the
   * kernel spin for its lock. After a failure nothing more is written.
   */
  store(bytes: Uint8Array): Promise<void>;
  finish(): Promise<ReadBackResult>;
  /** Closes what is open when nobody wants the result any more. */
  abandon(): Promise<void>;
}

export interface Prover {
  run<K extends TaskKind>(kind: K, input: TaskInput<K>): Promise<TaskOutput<K>>;
  /** For a file that was just created at `path` and is open for writing as `file`; `name` is how messages call it. */
  openSink(file: Descriptor, path: string, name: string): PayloadSink;
  /** Fills the block and proves it. Throws the read's own error, `length` or `checksum`. */
  readBlock(read: BlockRead): Promise<void>;
  /** How many tasks are worth having under way at once. */
  readonly parallelism: number;
  close(): Promise<void>;
}

function inlineSink(fs: FileSystem, file: Descriptor, path: string, name: string): PayloadSink {
  const readBack = new ReadBack(fs, path, name);
  let last = Promise.resolve();
  return {
    store: (bytes) => {
      last = last.then(async () => {
        await writeFully(fs, file, bytes, readBack.byteLength);
        readBack.block(bytes);
      });
      return last;
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

export function inlineProver(fs: FileSystem, declarations: Declarations): Prover {
  return {
    run: (kind, input) => runTask(fs, declarations, kind, input),
    openSink: (file, path, name) => inlineSink(fs, file, path, name),
    readBlock: (read) => readBlock(fs, read),
    parallelism: 1,
    close: () => Promise.resolve(),
  };
}
