/** One proven array, ready to be read: from memory when it is small, otherwise block by block from its descriptor. */
import { StorageIntegrityError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry } from '../contract/manifest.ts';
import { BLOCK_BYTES, type Block, type BlockPool } from './block-pool.ts';
import { sameStamp, type FileSystem } from './file-system.ts';
import { checkDigest } from './payload-verification.ts';
import { lengthChanged, named } from './integrity.ts';
import type { OpenedPayload } from './proof-tasks.ts';
import type { PayloadHash, Prover } from './prover.ts';
import { readFailure } from './stored-file.ts';

export interface StoredPayloadContext {
  readonly fs: FileSystem;
  readonly prover: Prover;
  readonly blocks: BlockPool;
  /** Whether a whole read is hashed once more while it leaves. */
  readonly proveWhileReading: boolean;
}

/** Blocks read before they are asked for, and blocks whose hash may lag: with those being sent, the memory of one reader. */
const BLOCKS_AHEAD = 2;

interface FilledBlock {
  readonly block: Block;
  readonly bytes: Uint8Array;
}

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
   * The bytes `start` up to but not including `end`. A yielded block is valid only until the next one is asked for.
   * Throws `StorageIntegrityError` as soon as the file is no longer in the state that was proven; of a whole read the
   * last block is held back until the SHA-256 of everything read has been compared again.
   */
  async *blocks(start = 0, end = this.byteLength): AsyncGenerator<Uint8Array, void, void> {
    if (this.#opened.bytes !== null) {
      if (end > start) yield this.#opened.bytes.subarray(start, end);
      return;
    }
    const whole = start === 0 && end === this.byteLength && this.#context.proveWhileReading;
    yield* this.#read(start, end, whole ? this.#context.prover.startHash() : null);
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

  async *#read(start: number, end: number, hash: PayloadHash | null): AsyncGenerator<Uint8Array, void, void> {
    const { blocks } = this.#context;
    const ahead: Promise<FilledBlock>[] = [];
    let reading = start;
    const readAhead = (): void => {
      while (ahead.length < BLOCKS_AHEAD && reading < end) {
        ahead.push(this.#fill(blocks.take(), reading, end));
        reading += Math.min(BLOCK_BYTES, end - reading);
      }
    };
    const hashing: Promise<void>[] = [];
    try {
      readAhead();
      for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
        const { block, bytes } = await next;
        readAhead();
        const hashed = hash?.update(bytes) ?? Promise.resolve();
        hashed.catch(() => undefined);
        hashing.push(hashed);
        if (ahead.length === 0 && hash !== null) {
          await Promise.all(hashing);
          this.#checkDigest(await hash.digest());
        }
        yield bytes;
        // The reader is done with the block; the hash may lag behind it by a few, but not by more.
        hashed.then(
          () => {
            blocks.give(block);
          },
          () => undefined,
        );
        if (hashing.length > BLOCKS_AHEAD) await hashing.shift();
      }
    } finally {
      hash?.abandon();
      await Promise.allSettled(ahead);
    }
  }

  #fill(block: Block, position: number, end: number): Promise<FilledBlock> {
    const read = this.#readBlock(block, position, end).catch((error: unknown) => {
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

  #checkDigest(actual: string): void {
    try {
      checkDigest(this.entry, actual);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  async #readBlock(block: Block, position: number, end: number): Promise<FilledBlock> {
    const { fs } = this.#context;
    const file = this.#opened.descriptor;
    if (file === null || this.#closed) throw new Error('The payload was closed while it was being read.');
    const wanted = Math.min(BLOCK_BYTES, end - position);
    let filled = 0;
    while (filled < wanted) {
      const count = await fs.read(file, block.subarray(filled, wanted), position + filled);
      if (count === 0) throw lengthChanged(this.entry.file);
      filled += count;
    }
    if (!sameStamp(fs.statOpen(file), this.#opened.stamp)) {
      throw new StorageIntegrityError(`${this.entry.file} changed while it was being read.`, {
        problem: 'checksum',
        location: this.entry.file,
      });
    }
    return { block, bytes: block.subarray(0, wanted) };
  }
}
