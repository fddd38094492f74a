/** Keeps some of the disk free, so that it never runs full under a publication: refused before, not broken during. */
import { SnapshotError } from '../contract/errors.ts';
import type { FileSystemWriter } from './file-system.ts';

/** How many payload bytes pass between two looks at the file system. */
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

export class SpaceReserve {
  readonly #fs: FileSystemWriter;
  readonly #root: string;
  readonly #reserve: bigint;

  /** `reserveBytes` of the file system that holds `root` stay free; 0 switches the check off. */
  constructor(fs: FileSystemWriter, root: string, reserveBytes: number) {
    this.#fs = fs;
    this.#root = root;
    this.#reserve = BigInt(reserveBytes);
  }

  /** Throws `insufficient_storage` unless `upcomingBytes` more fit above the reserve. */
  async check(upcomingBytes: number): Promise<void> {
    if (this.#reserve === 0n) return;
    const { free } = await this.#fs.freeBytes(this.#root);
    if (free - BigInt(upcomingBytes) >= this.#reserve) return;
    throw new SnapshotError(
      'insufficient_storage',
      `The disk has ${free} bytes free; ${this.#reserve} are kept in reserve and ${upcomingBytes} more are needed. Free space, then publish again.`,
      {},
    );
  }

  /** Passes chunks on and looks again every 64 MiB. */
  async *guard(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    let unchecked = 0;
    for await (const chunk of chunks) {
      unchecked += chunk.length;
      if (unchecked >= CHECK_EVERY_BYTES) {
        unchecked = 0;
        await this.check(chunk.length);
      }
      yield chunk;
    }
  }
}
