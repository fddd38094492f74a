/** What every use of the port shares: the platform's error codes read in one place, the one read loop and the one write loop. */
import { SnapshotError, StorageIntegrityError, type IntegrityProblem } from '../contract/errors.ts';
import type { Descriptor, FileStat, FileSystem, FileSystemReader, FileSystemWriter } from './file-system.ts';
import { lengthMismatch } from './package-checks.ts';

export function errnoOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error) {
    return error.code;
  }
  return undefined;
}

export function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}

/** ENOTDIR: rename of a directory onto a file or a link; EEXIST is what xfs says for ENOTEMPTY. */
export function saysExists(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR' || code === 'EISDIR';
}

export function saysNoSpace(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS']);

/** The process or the machine is out of descriptors or memory for the moment; the package may be perfectly well. */
export function saysExhausted(error: unknown): boolean {
  return EXHAUSTED.has(errnoOf(error) ?? '');
}

const FORBIDDEN: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EROFS']);

/** The system does not let this process change a directory: mounted read-only, append-only, or the rights are gone. */
export function saysForbidden(error: unknown): boolean {
  return FORBIDDEN.has(errnoOf(error) ?? '');
}

/** The one answer to exhaustion, whoever meets it. */
export function unavailableNow(
  cause: unknown,
  { attempt }: { attempt?: string | undefined } = {},
): SnapshotError<'unavailable'> {
  return new SnapshotError(
    'unavailable',
    `The service is out of descriptors or memory for the moment (${errnoOf(cause) ?? 'unknown'}); try again shortly.`,
    { retry_after_seconds: 1 },
    { cause, ...(attempt === undefined ? {} : { attempt }) },
  );
}

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

/** The one read loop: fills `buffer` from `position` of the file on; fewer bytes only at the end of the file. */
export function readInto(
  fs: FileSystemReader,
  file: Descriptor,
  buffer: Uint8Array,
  position: number,
): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = fs.readSync(file, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

interface Write {
  readonly bytes: Uint8Array;
  readonly position: number;
}

/** The one write loop, for either half of the port: yields what is to be written next, and is told how much of it was. */
function* writes(bytes: Uint8Array, position: number): Generator<Write, void, number> {
  for (let written = 0; written < bytes.length;) {
    const rest = written === 0 ? bytes : bytes.subarray(written);
    const count = yield { bytes: rest, position: position + written };
    if (count === 0) {
      throw Object.assign(new Error('write returned 0 bytes'), { code: 'EIO', syscall: 'write' });
    }
    written += count;
  }
}

/** Writes all of `bytes` at `position`, leaving the thread while the disk works. */
export async function writeFully(
  fs: FileSystemWriter,
  file: Descriptor,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  const steps = writes(bytes, position);
  for (let step = steps.next(); step.done !== true;) {
    step = steps.next(await fs.write(file, step.value.bytes, step.value.position));
  }
}

/** The same in the calling thread. */
export function writeFullySync(
  fs: Pick<FileSystem, 'writeSync'>,
  file: Descriptor,
  bytes: Uint8Array,
  position: number,
): void {
  const steps = writes(bytes, position);
  for (let step = steps.next(); step.done !== true;) {
    step = steps.next(fs.writeSync(file, step.value.bytes, step.value.position));
  }
}

/** Opens a regular file and leaves it open for the caller, who must close it. */
export function openRegularFile(
  fs: FileSystemReader,
  path: string,
  name: string,
  problem: IntegrityProblem = 'inventory',
): { readonly file: Descriptor; readonly stat: FileStat } {
  let file: Descriptor;
  try {
    file = fs.openForReading(path);
  } catch (error) {
    throw readFailure(error, name, problem);
  }
  try {
    const stat = fs.statOpen(file);
    if (stat.kind !== 'file') {
      throw new StorageIntegrityError(`${name} is not a regular file.`, {
        problem: 'inventory',
        location: name,
      });
    }
    return { file, stat };
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, name, problem);
  }
}

/** Runs `use` on an open regular file and closes it whatever happens. */
export function withFile<T>(
  fs: FileSystemReader,
  path: string,
  name: string,
  problem: IntegrityProblem,
  use: (file: Descriptor, stat: FileStat) => T,
): T {
  const { file, stat } = openRegularFile(fs, path, name, problem);
  let result: T;
  try {
    result = use(file, stat);
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, name, problem);
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

/**
 * All bytes of an open file that must be `size` bytes long. Reads one byte more than expected, so that a file that grew
 * behind its stat is noticed. Throws `length` when the file is shorter or longer.
 */
export function readExactly(fs: FileSystemReader, file: Descriptor, name: string, size: number): Buffer {
  const bytes = readAtMost(fs, file, size);
  if (bytes.length !== size) {
    throw lengthMismatch(name, BigInt(size), bytes.length > size ? 'more' : BigInt(bytes.length));
  }
  return bytes;
}

/** Up to `limit + 1` bytes of a small file: more than `limit` means the file is too long to be what it should be. */
export function readAtMost(fs: FileSystemReader, file: Descriptor, limit: number): Buffer {
  const buffer = Buffer.allocUnsafe(limit + 1);
  return buffer.subarray(0, readInto(fs, file, buffer, 0));
}

/** Closes once the sync has settled; a failed close counts, as it may be the first word of a failed write. */
export async function closeAfter(
  fs: FileSystemWriter,
  file: Descriptor,
  synced: Promise<void>,
): Promise<void> {
  try {
    await synced;
  } catch (error) {
    await fs.close(file).catch(() => undefined);
    throw error;
  }
  await fs.close(file);
}

/** The two steps of a small file; rejections are for whoever awaits them, and never "unhandled" until then. */
export interface SmallFile {
  /** All of it is in the file. */
  readonly stored: Promise<unknown>;
  /** It is durable, and its descriptor closed, as it is after any failure. */
  readonly synced: Promise<void>;
}

/** Writes all of a small file that is being created, and starts its fsync. */
export function writeAndSync(
  fs: FileSystemWriter,
  creating: Promise<Descriptor>,
  bytes: Uint8Array,
): SmallFile {
  const stored = creating.then(async (file) => {
    try {
      await writeFully(fs, file, bytes, 0);
    } catch (error) {
      await fs.close(file).catch(() => undefined);
      throw error;
    }
    return file;
  });
  const synced = stored.then((file) => closeAfter(fs, file, fs.sync(file)));
  stored.catch(() => undefined);
  synced.catch(() => undefined);
  return { stored, synced };
}
