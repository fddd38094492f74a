/**
 * The file-system port over plain objects. Fast enough to build and judge thousands of disks per second, and exact in
 * what publication relies on: EEXIST of creations, ENOTEMPTY and ENOTDIR of renames, silent replacement of an empty
 * directory.
 */
import type { FileKind, FileStat, FileSystem } from '../../src/store/file-system.ts';

export interface MemoryFile {
  readonly kind: 'file';
  bytes: Uint8Array;
  /** The memory that `bytes` is the beginning of, once something was written. */
  room?: Uint8Array;
}

export interface MemoryDirectory {
  readonly kind: 'directory';
  readonly entries: Map<string, MemoryNode>;
}

export type MemoryNode = MemoryFile | MemoryDirectory;

export function emptyDirectory(): MemoryDirectory {
  return { kind: 'directory', entries: new Map() };
}

/** Called before every asynchronous operation takes effect: decides how concurrent operations interleave. */
export type Pause = (operation: string) => Promise<void>;

const inodes = new WeakMap<MemoryNode, bigint>();
let lastInode = 0n;

function inodeOf(node: MemoryNode): bigint {
  const known = inodes.get(node);
  if (known !== undefined) return known;
  lastInode += 1n;
  inodes.set(node, lastInode);
  return lastInode;
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '' && step !== '.');
}

function find(tree: MemoryDirectory, path: string, syscall: string): MemoryNode {
  let node: MemoryNode = tree;
  for (const step of stepsOf(path)) {
    if (node.kind !== 'directory') throw systemError('ENOTDIR', syscall);
    const next = node.entries.get(step);
    if (next === undefined) throw systemError('ENOENT', syscall);
    node = next;
  }
  return node;
}

function parentOf(
  tree: MemoryDirectory,
  path: string,
  syscall: string,
): { parent: MemoryDirectory; name: string } {
  const steps = stepsOf(path);
  const name = steps.pop();
  if (name === undefined) throw systemError('EEXIST', syscall);
  const parent = find(tree, steps.join('/'), syscall);
  if (parent.kind !== 'directory') throw systemError('ENOTDIR', syscall);
  return { parent, name };
}

/** Makes a file at least `length` bytes long, with room to spare behind them: large files are written piece by piece. */
function grow(file: MemoryFile, length: number): void {
  if (length <= file.bytes.length && file.room !== undefined) return;
  let { room } = file;
  if (room === undefined || room.length < length) {
    room = new Uint8Array(Math.max(length, 2 * (room?.length ?? 0)));
    room.set(file.bytes);
    file.room = room;
  }
  file.bytes = room.subarray(0, Math.max(length, file.bytes.length));
}

/** A file system whose root directory is `tree`; `tree` shows every change. */
export function memoryFileSystem(tree: MemoryDirectory, pause: Pause = () => Promise.resolve()): FileSystem {
  const open = new Map<number, MemoryNode>();
  let nextDescriptor = 3;
  const openNode = (node: MemoryNode): number => {
    const descriptor = nextDescriptor++;
    open.set(descriptor, node);
    return descriptor;
  };
  const nodeOf = (descriptor: number, syscall: string): MemoryNode => {
    const node = open.get(descriptor);
    if (node === undefined) throw systemError('EBADF', syscall);
    return node;
  };
  const fileOf = (descriptor: number, syscall: string): MemoryFile => {
    const node = nodeOf(descriptor, syscall);
    if (node.kind !== 'file') throw systemError('EISDIR', syscall);
    return node;
  };
  const statOf = (node: MemoryNode): FileStat => ({
    kind: node.kind,
    bornNs: 0n,
    dev: 1n,
    ino: inodeOf(node),
    size: node.kind === 'file' ? BigInt(node.bytes.length) : 0n,
    mtimeNs: 0n,
    ctimeNs: 0n,
  });
  const readAt = (descriptor: number, buffer: Uint8Array, position: number): number => {
    const part = fileOf(descriptor, 'read').bytes.subarray(position, position + buffer.length);
    buffer.set(part);
    return part.length;
  };
  const writeAt = (descriptor: number, bytes: Uint8Array, position: number): number => {
    const file = fileOf(descriptor, 'write');
    grow(file, position + bytes.length);
    file.bytes.set(bytes, position);
    return bytes.length;
  };
  const closeNow = (descriptor: number): void => {
    if (!open.delete(descriptor)) throw systemError('EBADF', 'close');
  };

  return {
    makeDirectory: async (path) => {
      await pause('mkdir');
      const { parent, name } = parentOf(tree, path, 'mkdir');
      if (parent.entries.has(name)) throw systemError('EEXIST', 'mkdir');
      parent.entries.set(name, emptyDirectory());
    },
    createFile: async (path) => {
      await pause('open');
      const { parent, name } = parentOf(tree, path, 'open');
      if (parent.entries.has(name)) throw systemError('EEXIST', 'open');
      const file: MemoryFile = { kind: 'file', bytes: new Uint8Array() };
      parent.entries.set(name, file);
      return openNode(file);
    },
    write: async (descriptor, bytes, position) => {
      await pause('write');
      return writeAt(descriptor, bytes, position);
    },
    syncData: async (descriptor) => {
      await pause('fdatasync');
      nodeOf(descriptor, 'fdatasync');
    },
    sync: async (descriptor) => {
      await pause('fsync');
      nodeOf(descriptor, 'fsync');
    },
    close: async (descriptor) => {
      await pause('close');
      closeNow(descriptor);
    },
    rename: async (from, to) => {
      await pause('rename');
      const source = parentOf(tree, from, 'rename');
      const target = parentOf(tree, to, 'rename');
      const moved = source.parent.entries.get(source.name);
      if (moved === undefined) throw systemError('ENOENT', 'rename');
      const replaced = target.parent.entries.get(target.name);
      if (replaced !== undefined && replaced.kind !== moved.kind) {
        throw systemError(replaced.kind === 'file' ? 'ENOTDIR' : 'EISDIR', 'rename');
      }
      if (replaced?.kind === 'directory' && replaced.entries.size > 0)
        throw systemError('ENOTEMPTY', 'rename');
      source.parent.entries.delete(source.name);
      target.parent.entries.set(target.name, moved);
    },
    syncDirectory: async (path) => {
      await pause('fsync of a directory');
      if (find(tree, path, 'open').kind !== 'directory') throw systemError('ENOTDIR', 'open');
    },
    checkWritable: async (path) => {
      await pause('access');
      find(tree, path, 'access');
    },
    listNames: async function* (path) {
      await pause('scandir');
      const node = find(tree, path, 'scandir');
      if (node.kind !== 'directory') throw systemError('ENOTDIR', 'scandir');
      yield [...node.entries.keys()].map((name) => Buffer.from(name).toString('latin1'));
    },
    freeRoom: () => Promise.resolve({ free: 1n << 40n, total: 1n << 41n, freeInodes: null }),

    statEntry: (path) => statOf(find(tree, path, 'lstat')),
    listDirectory: (path) => {
      const node = find(tree, path, 'scandir');
      if (node.kind !== 'directory') throw systemError('ENOTDIR', 'scandir');
      return [...node.entries].map(([name, entry]) => ({ name, kind: entry.kind satisfies FileKind }));
    },
    openForReading: (path) => openNode(find(tree, path, 'open')),
    statOpen: (descriptor) => statOf(nodeOf(descriptor, 'fstat')),
    readSync: (descriptor, buffer, offset, length, position) =>
      readAt(descriptor, buffer.subarray(offset, offset + length), position),
    writeSync: writeAt,
    closeSync: closeNow,
  };
}
