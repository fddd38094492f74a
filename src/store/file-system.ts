/**
 * The port through which the store touches a disk. Publication uses the asynchronous half, so that slow disks never
 * block the event loop; proofs use the synchronous half, because all but the smallest run in worker threads, where a
 * small file read synchronously costs a quarter of the asynchronous way. Tests implement it to fail the n-th operation.
 *
 * Every method throws the platform's own error (`code`: `EIO`, `ENOSPC`, …); nothing here retries or interprets.
 */

export type FileKind = 'file' | 'directory' | 'link' | 'other';

/** What identifies one state of one file; two equal stamps mean the file was not written in between. */
export interface FileStamp {
  readonly dev: bigint;
  readonly ino: bigint;
  /** Bytes. */
  readonly size: bigint;
  /** Nanoseconds since the epoch. */
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface FileStat extends FileStamp {
  readonly kind: FileKind;
  /** When the entry was made, in nanoseconds since the epoch; 0 where the system does not say. */
  readonly bornNs: bigint;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** An open file descriptor, valid in every thread of the process. */
export type Descriptor = number;

export interface FileSystemWriter {
  /** Creates one directory; fails with `EEXIST` where anything has that name. */
  makeDirectory(path: string): Promise<void>;
  /** Creates a file for writing; fails with `EEXIST` where anything has that name, links included. */
  createFile(path: string): Promise<Descriptor>;
  /** Writes at a byte position; may write fewer bytes than given and returns how many. */
  write(file: Descriptor, bytes: Uint8Array, position: number): Promise<number>;
  /** fdatasync: data, and the metadata needed to read it back. */
  syncData(file: Descriptor): Promise<void>;
  /** fsync. */
  sync(file: Descriptor): Promise<void>;
  close(file: Descriptor): Promise<void>;
  /** Renames a directory; never copies across file systems (`EXDEV` stays an error). */
  rename(from: string, to: string): Promise<void>;
  /** Makes the names inside a directory durable; does nothing where the platform has no directory fsync. */
  syncDirectory(path: string): Promise<void>;
  /** Reads up to `buffer.length` bytes at a byte position; returns how many were there. */
  read(file: Descriptor, buffer: Uint8Array, position: number): Promise<number>;
  /** Fails with the reason (`EACCES`, `EROFS`, …) why entries cannot be made in a directory. */
  checkWritable(path: string): Promise<void>;
  /** Bytes that may still be written by this process, and all bytes of the file system. */
  freeBytes(path: string): Promise<{ readonly free: bigint; readonly total: bigint }>;
}

export interface FileSystemReader {
  /** The entry itself, never what a link points to. */
  statEntry(path: string): FileStat;
  listDirectory(path: string): DirectoryEntry[];
  /** Opens for reading without following a final link and without blocking on a FIFO. */
  openForReading(path: string): Descriptor;
  statOpen(file: Descriptor): FileStat;
  readSync(file: Descriptor, buffer: Uint8Array, offset: number, length: number, position: number): number;
  closeSync(file: Descriptor): void;
}

/** For threads whose event loop nobody waits for. */
export interface BlockingWriter {
  /** Writes at a byte position; may write fewer bytes than given and returns how many. */
  writeSync(file: Descriptor, bytes: Uint8Array, position: number): number;
}

export interface FileSystem extends FileSystemWriter, FileSystemReader {}

export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}
