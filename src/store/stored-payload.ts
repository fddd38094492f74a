/** One proven array, ready to be read: from memory when it is small, otherwise block by block from its descriptor. */
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry } from '../contract/manifest.ts';
import { BLOCK_BYTES, type Block, type BlockPool } from './block-pool.ts';
import { expectedMac } from './block-macs.ts';
import type { FileSystem } from './file-system.ts';
import { named } from './integrity.ts';
import type { OpenedPayload } from './proof-tasks.ts';
import type { Prover } from './prover.ts';
import { readFailure } from './stored-file.ts';

export interface StoredPayloadContext {
  readonly fs: FileSystem;
  readonly prover: Prover;
  readonly blocks: BlockPool;
}

interface FilledBlock {
  readonly block: Block;
  readonly bytes: Uint8Array;
  /** Of its first byte in the file. */
  readonly position: number;
}

/** Blocks read before they are asked for: with the one being sent, the memory of one reader. */
const BLOCKS_AHEAD = 2;

export class StoredPayload {
  readonly snapshotId: SnapshotId;
  readonly key: ArrayKey;
  readonly entry: ArrayEntry;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** Bytes. */
  readonly byteLength: number;
  readonly #context: StoredPayloadContext;
  readonly #opened: OpenedPayload;
  /** Reads under way: the descriptor outlives them, lest its number already belong to another file. */
  readonly #reads = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    context: StoredPayloadContext,
    snapshotId: SnapshotId,
    key: ArrayKey,
    entry: ArrayEntry,
    opened: OpenedPayload,
  ) {
    this.#context = context;
    this.#opened = opened;
    this.snapshotId = snapshotId;
    this.key = key;
    this.entry = entry;
    this.manifestSha256 = opened.manifestSha256;
    this.byteLength = Number(entry.byte_length);
  }

  /** All bytes of a small payload, exactly as they were hashed; null for one that must be read in blocks. */
  get bytes(): Uint8Array | null {
    return this.#opened.bytes;
  }

  /**
   * The bytes `start` up to but not including `end`. A yielded block is valid only until the next one is asked for. Each
   * block of the file is proven once more before any of it is given: throws `StorageIntegrityError` where it is no longer
   * what was proven.
   */
  async *blocks(start = 0, end = this.byteLength): AsyncGenerator<Uint8Array, void, void> {
    if (end <= start) return;
    if (this.#opened.bytes !== null) {
      yield this.#opened.bytes.subarray(start, end);
      return;
    }
    const { blocks } = this.#context;
    const ahead: Promise<FilledBlock>[] = [];
    let reading = Math.floor(start / BLOCK_BYTES);
    const readAhead = (): void => {
      while (ahead.length < BLOCKS_AHEAD && reading * BLOCK_BYTES < end) {
        ahead.push(this.#fill(blocks.take(), reading));
        reading += 1;
      }
    };
    try {
      readAhead();
      for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
        const { block, bytes, position } = await next;
        readAhead();
        yield bytes.subarray(Math.max(0, start - position), end - position);
        blocks.give(block);
      }
    } finally {
      await Promise.allSettled(ahead);
    }
  }

  async close(): Promise<void> {
    const { descriptor } = this.#opened;
    if (this.#closed || descriptor === null) return;
    this.#closed = true;
    await Promise.allSettled(this.#reads);
    try {
      await this.#context.fs.close(descriptor);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  #fill(block: Block, index: number): Promise<FilledBlock> {
    const read = this.#readBlock(block, index).catch((error: unknown) => {
      throw this.#refusal(error);
    });
    this.#reads.add(read);
    const ended = (): void => {
      this.#reads.delete(read);
    };
    // Whoever left before this block is not there to hear of its failure.
    read.then(ended, ended);
    return read;
  }

  #refusal(error: unknown): unknown {
    return named(readFailure(error, this.entry.file, 'inventory'), this.snapshotId);
  }

  async #readBlock(block: Block, index: number): Promise<FilledBlock> {
    const { descriptor: file, macs, stamp } = this.#opened;
    if (file === null || this.#closed) throw new Error('The payload was closed while it was being read.');
    const position = index * BLOCK_BYTES;
    const bytes = block.subarray(0, Math.min(BLOCK_BYTES, this.byteLength - position));
    const mac = macs === null ? null : expectedMac(macs, index);
    await this.#context.prover.readBlock({ file, bytes, position, name: this.entry.file, stamp, mac });
    return { block, bytes, position };
  }
}
