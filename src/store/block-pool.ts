/**
 * Reusable blocks of shared memory: a block that holds received bytes is written to disk and hashed in another thread
 * at the same time, without being copied or handed over. Reuse also spares the page faults of fresh large buffers.
 */
export const BLOCK_BYTES = 1024 * 1024;
const KEPT_BLOCKS = 48;

export type Block = Uint8Array;

export class BlockPool {
  readonly #free: Block[] = [];

  take(): Block {
    return this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES));
  }

  /** Only for blocks that no write, hash or reader still uses. */
  give(block: Block): void {
    if (this.#free.length < KEPT_BLOCKS) this.#free.push(block);
  }
}
