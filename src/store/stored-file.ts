/** Reading one stored file to its proven end. Synchronous: see the file-system port for why. */
import { createHash } from 'node:crypto';
import { StorageIntegrityError, type IntegrityProblem } from '../contract/errors.ts';
import { BLOCK_BYTES } from './block-pool.ts';
import type { Descriptor, FileStat, FileSystemReader } from './file-system.ts';
import { errnoOf, isMissing, saysExhausted, unavailableNow } from './io-errors.ts';

/** How much is hashed before other work of the same thread gets its turn. */
const SLICE_BYTES = 8 * 1024 * 1024;

/** Turns a failed read of a stored file into the refusal that a reader of the snapshot gets. */
export function readFailure(error: unknown, name: string, problem: IntegrityProblem): Error {
  if (saysExhausted(error)) return unavailableNow(error);
  const code = errnoOf(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  const options = { cause: error };
  if (isMissing(error)) {
    return new StorageIntegrityError(`${name} is missing.`, { problem, location: name }, options);
  }
  if (code === 'ELOOP' || code === 'ENXIO') {
    return new StorageIntegrityError(
      `${name} is not a regular file.`,
      { problem: 'inventory', location: name },
      options,
    );
  }
  return new StorageIntegrityError(
    `${name} cannot be read (${code}).`,
    { problem: 'unreadable', location: name },
    options,
  );
}

/** Runs `use` on an open regular file and closes it whatever happens. */
export function withFile<T>(
  fs: FileSystemReader,
  path: string,
  name: string,
  problem: IntegrityProblem,
  use: (file: Descriptor, stat: FileStat) => T,
): T {
  let file: Descriptor;
  try {
    file = fs.openForReading(path);
  } catch (error) {
    throw readFailure(error, name, problem);
  }
  let result: T;
  try {
    result = use(file, regularFile(fs, file, name));
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, name, problem);
  }
  closeRead(fs, file, name);
  return result;
}

/** Like `withFile` for a file that is open already and a use that takes its time. */
export async function closingAfter<T>(
  fs: FileSystemReader,
  file: Descriptor,
  name: string,
  use: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await use();
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, name, 'inventory');
  }
  closeRead(fs, file, name);
  return result;
}

/** Closes a file that was read; a disk that fails even there is not trusted with what it gave before. */
export function closeRead(fs: FileSystemReader, file: Descriptor, name: string): void {
  try {
    fs.closeSync(file);
  } catch (error) {
    throw readFailure(error, name, 'unreadable');
  }
}

/** Closes a file whose read has failed: that failure is the one to tell. */
export function closeAfterFailure(fs: FileSystemReader, file: Descriptor): void {
  try {
    fs.closeSync(file);
  } catch {
    // Says nothing that the first failure does not.
  }
}

/** Opens a regular file and leaves it open for the caller, who must close it. */
export function openRegularFile(
  fs: FileSystemReader,
  path: string,
  name: string,
): { file: Descriptor; stat: FileStat } {
  let file: Descriptor;
  try {
    file = fs.openForReading(path);
  } catch (error) {
    throw readFailure(error, name, 'inventory');
  }
  try {
    return { file, stat: regularFile(fs, file, name) };
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, name, 'inventory');
  }
}

function regularFile(fs: FileSystemReader, file: Descriptor, name: string): FileStat {
  const stat = fs.statOpen(file);
  if (stat.kind !== 'file') {
    throw new StorageIntegrityError(`${name} is not a regular file.`, {
      problem: 'inventory',
      location: name,
    });
  }
  return stat;
}

/**
 * All bytes of an open file that must be `size` bytes long. Reads one byte more than expected, so that a file that grew
 * behind its stat is noticed. Throws `length` when the file is shorter or longer.
 */
export function readExactly(fs: FileSystemReader, file: Descriptor, name: string, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size + 1);
  const filled = readUpTo(fs, file, buffer, 0);
  if (filled !== size) throw lengthMismatch(name, BigInt(size), filled > size ? 'more' : BigInt(filled));
  return buffer.subarray(0, size);
}

/** Up to `limit + 1` bytes of a small file: more than `limit` means the file is too long to be what it should be. */
export function readAtMost(fs: FileSystemReader, file: Descriptor, limit: number): Buffer {
  const buffer = Buffer.allocUnsafe(limit + 1);
  return buffer.subarray(0, readUpTo(fs, file, buffer, 0));
}

/**
 * SHA-256 (64 lowercase hex) of an open file that must be `size` bytes long. Gives way to other work of its thread
 * every few MiB. `onBlock` sees the hashed bytes in blocks of `BLOCK_BYTES`, valid only during the call. Throws `length`
 * when the file is shorter or longer than `size`.
 */
export async function hashOpenFile(
  fs: FileSystemReader,
  file: Descriptor,
  name: string,
  size: number,
  onBlock?: (block: Uint8Array) => void,
): Promise<string> {
  const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, size + 1));
  const hash = createHash('sha256');
  let position = 0;
  let slice = 0;
  for (;;) {
    const count = readUpTo(fs, file, block, position);
    position += count;
    if (position > size) throw lengthMismatch(name, BigInt(size), 'more');
    const bytes = count === block.length ? block : block.subarray(0, count);
    if (count > 0) {
      hash.update(bytes);
      onBlock?.(bytes);
    }
    if (count < block.length) break;
    slice += count;
    if (slice >= SLICE_BYTES) {
      slice = 0;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  if (position !== size) throw lengthMismatch(name, BigInt(size), BigInt(position));
  return hash.digest('hex');
}

/** Fills `buffer` from `position` on; fewer bytes only at the end of the file. */
function readUpTo(fs: FileSystemReader, file: Descriptor, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = fs.readSync(file, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

export function lengthMismatch(
  name: string,
  expected: bigint,
  actual: bigint | 'more',
): StorageIntegrityError {
  const found = actual === 'more' ? 'more than that' : `${actual} bytes`;
  return new StorageIntegrityError(`${name} must be ${expected} bytes long, found ${found}.`, {
    problem: 'length',
    location: name,
    expected: String(expected),
    actual: String(actual),
  });
}
