/**
 * The port through which the store touches a disk. Publication uses the asynchronous half for names, small files and
 * syncs, so that slow disks never block the event loop; the engine uses the synchronous half, because it runs in worker
 * threads, where a small file read synchronously costs a quarter of the asynchronous way. Tests implement it to fail the
 * n-th operation.
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

export interface FreeRoom {
  /** Bytes that this process may still write, and all bytes of the file system. */
  readonly free: bigint;
  readonly total: bigint;
  /** Files and directories that may still be made; null where the file system does not count them. */
  readonly freeInodes: bigint | null;
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
  /** Fails with the reason (`EACCES`, `EROFS`, …) why entries cannot be made in a directory. */
  checkWritable(path: string): Promise<void>;
  /**
   * The names in a directory of any size, in pieces of at most about a thousand, each character one byte: a name on a disk
   * need not be text.
   */
  listNames(path: string): AsyncIterable<readonly string[]>;
  /** What may still be made by this process on the file system of a path. */
  freeRoom(path: string): Promise<FreeRoom>;
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

export interface FileSystem extends FileSystemWriter, FileSystemReader {
  /** `write` in the calling thread: for the engine, which runs where no event loop waits for it. */
  writeSync(file: Descriptor, bytes: Uint8Array, position: number): number;
}

export type SyncKind = 'data' | 'file' | 'directory';

/** The same port, telling how long each sync took: the one figure that says how a disk is doing. In seconds, also of syncs that fail. */
export function timedFileSystem(
  fs: FileSystem,
  observe: (kind: SyncKind, seconds: number) => void,
): FileSystem {
  const timed = async (kind: SyncKind, run: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    try {
      await run();
    } finally {
      observe(kind, (performance.now() - started) / 1000);
    }
  };
  return {
    ...fs,
    syncData: (file) => timed('data', () => fs.syncData(file)),
    sync: (file) => timed('file', () => fs.sync(file)),
    syncDirectory: (path) => timed('directory', () => fs.syncDirectory(path)),
  };
}

export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}
