/**
 * Reusable blocks of shared memory: a block that holds received bytes is written to disk and hashed in another thread
 * at the same time, without being copied or handed over. Reuse also spares the page faults of fresh large buffers.
 */
export const BLOCK_BYTES = 1024 * 1024;
const KEPT_BLOCKS = 32;
/** Blocks that all uploads together may have waiting to be stored, beyond the one that each needs to get on at all. */
const BLOCKS_WAITING = 12;
const MOST_WAITING_OF_ONE = 4;

export type Block = Uint8Array<SharedArrayBuffer>;

export class BlockPool {
  readonly #free: Block[] = [];
  #uploads = 0;

  /** How many blocks of one upload may wait to be stored now: fewer, the more uploads share the memory. */
  get share(): number {
    return Math.max(
      1,
      Math.min(MOST_WAITING_OF_ONE, Math.floor(BLOCKS_WAITING / Math.max(1, this.#uploads))),
    );
  }

  /** To be told of every upload of more than one block, and of its end. */
  uploadBegins(): void {
    this.#uploads += 1;
  }

  uploadEnds(): void {
    this.#uploads -= 1;
  }

  take(): Block {
    return this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES));
  }

  /** Only for blocks that no write, hash or reader still uses. */
  give(block: Block): void {
    if (this.#free.length < KEPT_BLOCKS) this.#free.push(block);
  }
}
