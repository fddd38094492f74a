/**
 * Reads a payload back from disk while it is still being written (PW-07.04 step 4): what was read is compared with what was
 * received, and it is the read bytes that are hashed, so the digest is one of bytes on disk.
 */
import { createHash, type Hash } from 'node:crypto';
import { StorageIntegrityError } from '../contract/errors.ts';
import type { Descriptor, FileStamp, FileSystemReader } from './file-system.ts';
import { lengthMismatch, openRegularFile, readFailure } from './stored-file.ts';

/** Small enough to stay in the processor's own cache from the read to the hash. */
const PIECE_BYTES = 128 * 1024;

export interface ReadBackResult {
  /** 64 lowercase hex, of the bytes as they were read back. */
  readonly sha256: string;
  /** The state of the file after its last byte was read back. */
  readonly stamp: FileStamp;
}

export class ReadBack {
  readonly #fs: FileSystemReader;
  readonly #path: string;
  readonly #name: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #buffer = Buffer.allocUnsafe(PIECE_BYTES);
  #file: Descriptor | null = null;
  #position = 0;

  constructor(fs: FileSystemReader, path: string, name: string) {
    this.#fs = fs;
    this.#path = path;
    this.#name = name;
  }

  /** Bytes taken so far. */
  get byteLength(): number {
    return this.#position;
  }

  /** Takes the next block, which has been written at the end of those before it. Throws `checksum` or `length`. */
  block(expected: Uint8Array): void {
    this.#file ??= openRegularFile(this.#fs, this.#path, this.#name).file;
    for (let at = 0; at < expected.length; at += PIECE_BYTES) {
      this.#piece(this.#file, expected.subarray(at, at + PIECE_BYTES));
    }
  }

  #piece(file: Descriptor, expected: Uint8Array): void {
    const read = this.#buffer.subarray(0, expected.length);
    this.#fill(file, read);
    if (!read.equals(expected)) {
      throw new StorageIntegrityError(`${this.#name} does not hold the bytes that were written to it.`, {
        problem: 'checksum',
        location: this.#name,
      });
    }
    this.#hash.update(read);
    this.#position += read.length;
  }

  /** The proof of a file that must be exactly as long as what was taken. Closes it. */
  finish(): ReadBackResult {
    try {
      this.#file ??= openRegularFile(this.#fs, this.#path, this.#name).file;
      const { dev, ino, size, mtimeNs, ctimeNs } = this.#fs.statOpen(this.#file);
      const expected = BigInt(this.#position);
      if (size !== expected) throw lengthMismatch(this.#name, expected, size);
      return { sha256: this.#hash.digest('hex'), stamp: { dev, ino, size, mtimeNs, ctimeNs } };
    } catch (error) {
      throw readFailure(error, this.#name, 'inventory');
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#file !== null) this.#fs.closeSync(this.#file);
    this.#file = null;
  }

  #fill(file: Descriptor, buffer: Buffer): void {
    let filled = 0;
    try {
      while (filled < buffer.length) {
        const count = this.#fs.readSync(
          file,
          buffer,
          filled,
          buffer.length - filled,
          this.#position + filled,
        );
        if (count === 0) break;
        filled += count;
      }
    } catch (error) {
      throw readFailure(error, this.#name, 'inventory');
    }
    if (filled < buffer.length) {
      throw lengthMismatch(
        this.#name,
        BigInt(this.#position + buffer.length),
        BigInt(this.#position + filled),
      );
    }
  }
}
