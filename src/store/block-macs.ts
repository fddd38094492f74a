/**
 * Message authentication codes of the blocks of one payload, made in the pass that proves its SHA-256. A block that is read
 * again to be sent is compared with its code before it leaves: that costs a fifth of a second SHA-256, and it is known for
 * each block and not only at the end. GMAC (NIST SP 800-38D) under a key that is drawn for one proof and never leaves the
 * process: whoever changes bytes on disk cannot make the codes agree.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { BLOCK_BYTES } from './block-pool.ts';

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

/** Collects the codes of a payload of `size` bytes while its blocks are read in order. */
export class BlockMacsBuilder {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #macs: Uint8Array;
  #count = 0;

  constructor(size: number) {
    // Memory of its own: between threads a view travels with all of what it is cut from.
    this.#macs = new Uint8Array(Math.ceil(size / BLOCK_BYTES) * MAC_BYTES);
  }

  /** Takes the next block: `BLOCK_BYTES` bytes, fewer only at the end. */
  add(block: Uint8Array): void {
    this.#macs.set(macOf(this.#key, this.#count, block), this.#count * MAC_BYTES);
    this.#count += 1;
  }

  build(): BlockMacs {
    return { key: new Uint8Array(this.#key), macs: this.#macs };
  }
}

export function expectedMac({ key, macs }: BlockMacs, index: number): ExpectedMac {
  return { key, index, mac: macs.slice(index * MAC_BYTES, (index + 1) * MAC_BYTES) };
}

export function hasMac(block: Uint8Array, { key, index, mac }: ExpectedMac): boolean {
  return macOf(key, index, block).equals(mac);
}
