/**
 * Payloads in blocks. The pool holds reusable blocks of shared memory: one that holds received bytes is written to disk
 * and hashed in another thread without being copied or handed over, and reuse spares the page faults of fresh large
 * buffers.
 *
 * The codes are message authentication codes of the blocks of one payload, made in the pass that proves its SHA-256. A
 * block that is read again to be sent is compared with its code before it leaves: that costs a fifth of a second SHA-256,
 * and it is known for each block and not only at the end. GMAC (NIST SP 800-38D) under a key that is drawn for one proof
 * and never leaves the process: whoever changes bytes on disk cannot make the codes agree.
 */
import { createCipheriv, randomBytes } from 'node:crypto';

export const BLOCK_BYTES = 1024 * 1024;
const KEPT_BLOCKS = 32;
/** Blocks that all uploads together may have waiting to be stored, beyond the one that each needs to get on at all. */
const BLOCKS_WAITING = 12;
const MOST_WAITING_OF_ONE = 4;
/** Blocks read before they are asked for. */
export const BLOCKS_AHEAD = 2;
/** What a reader of one payload holds in memory at most: the block that is being sent and those that are read ahead. */
export const READER_BYTES = (1 + BLOCKS_AHEAD) * BLOCK_BYTES;

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

const ALGORITHM = 'aes-128-gcm';
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const MAC_BYTES = 16;

/** Plain data, so that it may travel between threads. */
export interface BlockMacs {
  readonly key: Uint8Array;
  /** 16 bytes for each block of `BLOCK_BYTES`, in order; the last block may be shorter. */
  readonly macs: Uint8Array;
}

/** What one block must have. */
export interface ExpectedMac {
  readonly key: Uint8Array;
  /** Which block of its payload it is, from 0. */
  readonly index: number;
  readonly mac: Uint8Array;
}

function macOf(key: Uint8Array, index: number, block: Uint8Array): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntLE(index, 0, 6);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  cipher.setAAD(block);
  cipher.final();
  return cipher.getAuthTag();
}

/** Collects the codes of a payload while its blocks are read in order; of about `size` bytes, where that is known before. */
export class BlockMacsBuilder {
  readonly #key = randomBytes(KEY_BYTES);
  #macs: Uint8Array;
  #count = 0;

  constructor(size: number) {
    this.#macs = new Uint8Array(Math.ceil(size / BLOCK_BYTES) * MAC_BYTES);
  }

  /** Takes the next block: `BLOCK_BYTES` bytes, fewer only at the end. */
  add(block: Uint8Array): void {
    const at = this.#count * MAC_BYTES;
    if (at === this.#macs.length) {
      const grown = new Uint8Array(Math.max(at * 2, MAC_BYTES));
      grown.set(this.#macs);
      this.#macs = grown;
    }
    this.#macs.set(macOf(this.#key, this.#count, block), at);
    this.#count += 1;
  }

  build(): BlockMacs {
    // Memory of its own: between threads a view travels with all of what it is cut from.
    return { key: new Uint8Array(this.#key), macs: this.#macs.slice(0, this.#count * MAC_BYTES) };
  }
}

export function expectedMac({ key, macs }: BlockMacs, index: number): ExpectedMac {
  return { key, index, mac: macs.slice(index * MAC_BYTES, (index + 1) * MAC_BYTES) };
}

export function hasMac(block: Uint8Array, { key, index, mac }: ExpectedMac): boolean {
  return macOf(key, index, block).equals(mac);
}
