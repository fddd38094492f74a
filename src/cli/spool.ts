/** What is no regular file becomes one for as long as the command runs: it has to be hashed, and perhaps sent again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { open, statfs, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SnapshotClientError } from '../client/errors.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { NPY_MAGIC } from '../contract/npy-header.ts';
import { CommandError, reasonOf } from './errors.ts';
import { unlessAborted } from './connection.ts';
import { writeAll } from './files.ts';

/** What is written for standard input where a file is expected. */
export const STANDARD_INPUT = '-';

/** Left free for others, who need the directory for temporary files too. */
const LEFT_FREE_BYTES = 16 * 1024 * 1024;
/** How often the space is looked at. */
const MEASURED_BYTES = 4 * 1024 * 1024;

/** What comes from elsewhere than a file. */
export interface NamedBytes {
  /** Of the file that they are kept in. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Files of this process only, gone when it ends, however it does short of being killed. */
export class Spool {
  #directory: string | null = null;
  readonly #atExit = (): void => this.remove();

  /**
   * The path of a file with what `source` brings: a path, or `-`, or bytes by a name of their own. Throws `CommandError`,
   * what the bytes end in, and the reason of the signal.
   */
  async take(key: string, source: string | NamedBytes, signal: AbortSignal): Promise<string> {
    const name = typeof source === 'string' ? key : source.name;
    const path = join(this.#open(), `${name}.spool`);
    const shown = source === STANDARD_INPUT ? 'standard input' : typeof source === 'string' ? source : key;
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await unlessAborted(signal, this.#copy(source, file, signal), {
          endsWithProcess: source === STANDARD_INPUT,
        });
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      // Where bytes come from says itself why they do not.
      if (isAnySnapshotError(error) || error instanceof SnapshotClientError) throw error;
      const reason = error instanceof CommandError ? error.message : reasonOf(error);
      throw new CommandError(
        'failed',
        `arrays.${key}: ${shown} cannot be kept in ${tmpdir()} (${reason}); free space there, or name another directory ` +
          'in TMPDIR',
        { cause: error },
      );
    }
    return path;
  }

  async #copy(source: string | NamedBytes, file: FileHandle, signal: AbortSignal): Promise<void> {
    const input = typeof source !== 'string' || source === STANDARD_INPUT ? null : await open(source, 'r');
    const read: AsyncIterable<Uint8Array> = input?.createReadStream({ autoClose: false }) ?? process.stdin;
    const stream = typeof source === 'string' ? read : source.bytes;
    try {
      let at = 0;
      let measured = -MEASURED_BYTES;
      for await (const chunk of stream) {
        signal.throwIfAborted();
        if (at - measured >= MEASURED_BYTES) {
          await this.#refuseToFill(chunk.length + MEASURED_BYTES);
          measured = at;
        }
        await writeAll(file, chunk, at, 'the copy');
        at += chunk.length;
      }
    } finally {
      await input?.close();
    }
  }

  async #refuseToFill(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#open());
    if (bavail * bsize - bytes >= LEFT_FREE_BYTES) return;
    throw new CommandError('failed', `less than ${LEFT_FREE_BYTES} bytes would be left free`);
  }

  #open(): string {
    if (this.#directory === null) {
      this.#directory = mkdtempSync(join(tmpdir(), 'pipewhy-snapshots-'));
      process.once('exit', this.#atExit);
    }
    return this.#directory;
  }

  remove(): void {
    if (this.#directory === null) return;
    rmSync(this.#directory, { recursive: true, force: true });
    process.off('exit', this.#atExit);
    this.#directory = null;
  }
}

/** Whether a regular file begins as a .npy file does; false if it cannot be read, which opening it then says. */
export async function beginsAsNpy(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return false;
  try {
    if (!(await file.stat()).isFile()) return false;
    const magic = Buffer.alloc(NPY_MAGIC.length);
    await file.read(magic, 0, magic.length, 0);
    return magic.equals(NPY_MAGIC);
  } finally {
    await file.close();
  }
}
