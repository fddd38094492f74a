/** The one real implementation of the file-system port: all that the store does to a disk goes through here. */
import fs from 'node:fs';
import type { Descriptor, DirectoryEntry, FileKind, FileStat, FileSystem } from './file-system.ts';

const { O_CREAT, O_EXCL, O_WRONLY, O_RDONLY } = fs.constants;
// Absent on Windows, where opening a link or a FIFO by these names is not the same danger.
const IS_WINDOWS = process.platform === 'win32';
const O_NOFOLLOW = IS_WINDOWS ? 0 : fs.constants.O_NOFOLLOW;
const O_NONBLOCK = IS_WINDOWS ? 0 : fs.constants.O_NONBLOCK;
const DIRECTORY_SYNC = !IS_WINDOWS;

/** Callback style on purpose: FileHandle costs twice the CPU for operations as small as ours. */
function call<T>(run: (done: (error: NodeJS.ErrnoException | null, value: T) => void) => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    run((error, value) => {
      if (error) reject(error);
      else resolve(value);
    });
  });
}

function callVoid(run: (done: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    run((error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** What the platform says, without the search of a stack that its own error costs: that nothing is there is the good case. */
function noEntry(): Error {
  return Object.assign(new Error('ENOENT: no such file or directory, lstat'), {
    code: 'ENOENT',
    syscall: 'lstat',
  });
}

function kindOf(entry: fs.Dirent | fs.BigIntStats): FileKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  return 'other';
}

/** Where the system cannot say when an entry was made, libuv gives the time of its last change instead, which moves. */
const KNOWS_BIRTHS = knowsBirths();

function knowsBirths(): boolean {
  try {
    const { birthtimeNs, ctimeNs } = fs.lstatSync('/', { bigint: true });
    return birthtimeNs !== ctimeNs;
  } catch {
    return false;
  }
}

function statOf(stats: fs.BigIntStats): FileStat {
  return {
    kind: kindOf(stats),
    bornNs: KNOWS_BIRTHS ? stats.birthtimeNs : 0n,
    dev: stats.dev,
    ino: stats.ino,
    size: stats.size,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
  };
}

/**
 * Only the fsync itself leaves this thread: opening a directory that exists, its stat and its close touch no disk, and each
 * hand-over to the pool and back costs more than all three.
 */
async function syncDirectory(path: string): Promise<void> {
  if (!DIRECTORY_SYNC) return;
  const directory = fs.openSync(path, O_RDONLY);
  let failed = true;
  try {
    await callVoid((done) => {
      fs.fsync(directory, done);
    });
    // xfs answers 0 to the fsync of an open directory after it has shut itself down and lost the names; a stat of it then
    // says EIO. One that succeeds proves that the fsync came in time.
    fs.fstatSync(directory);
    failed = false;
  } finally {
    closeDirectory(directory, failed);
  }
}

/** Whatever close says, a failed sync is the one to tell. */
function closeDirectory(directory: Descriptor, syncFailed: boolean): void {
  try {
    fs.closeSync(directory);
  } catch (error) {
    if (!syncFailed) throw error;
  }
}

/** So many names are fetched from the system, in a thread of its pool, and passed on at once. */
const NAMES_AT_ONCE = 1024;

async function* listNames(path: string): AsyncGenerator<readonly string[], void, void> {
  const directory = await fs.promises.opendir(path, { encoding: 'latin1', bufferSize: NAMES_AT_ONCE });
  let piece: string[] = [];
  for await (const { name } of directory) {
    piece.push(name);
    if (piece.length < NAMES_AT_ONCE) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}

export const nodeFileSystem: FileSystem = {
  makeDirectory: (path) =>
    callVoid((done) => {
      fs.mkdir(path, done);
    }),
  createFile: (path) =>
    call<Descriptor>((done) => {
      fs.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o644, done);
    }),
  write: (file, bytes, position) =>
    call<number>((done) => {
      fs.write(file, bytes, 0, bytes.length, position, done);
    }),
  syncData: (file) =>
    callVoid((done) => {
      fs.fdatasync(file, done);
    }),
  sync: (file) =>
    callVoid((done) => {
      fs.fsync(file, done);
    }),
  // After its sync a close has nothing to write; as a call of its own in the pool it would cost twenty times as much.
  close: async (file) => {
    fs.closeSync(file);
  },
  rename: (from, to) =>
    callVoid((done) => {
      fs.rename(from, to, done);
    }),
  syncDirectory,
  checkWritable: (path) =>
    callVoid((done) => {
      fs.access(path, fs.constants.W_OK | fs.constants.X_OK, done);
    }),
  listNames,
  freeRoom: async (path) => {
    const stats = await call<fs.BigIntStatsFs>((done) => {
      fs.statfs(path, { bigint: true }, done);
    });
    return {
      free: stats.bavail * stats.bsize,
      total: stats.blocks * stats.bsize,
      freeInodes: stats.files === 0n ? null : stats.ffree,
    };
  },

  statEntry: (path) => {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) throw noEntry();
    return statOf(stats);
  },
  listDirectory: (path): DirectoryEntry[] =>
    fs.readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
  openForReading: (path) => fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
  statOpen: (file) => statOf(fs.fstatSync(file, { bigint: true })),
  readSync: (file, buffer, offset, length, position) => fs.readSync(file, buffer, offset, length, position),
  closeSync: (file) => {
    fs.closeSync(file);
  },
  writeSync: (file, bytes, position) => fs.writeSync(file, bytes, 0, bytes.length, position),
};
