/** Reads one block of a proven payload once more, to be sent, and proves that it is still what was proven. */
import { StorageIntegrityError } from '../contract/errors.ts';
import { hasMac, type ExpectedMac } from './block-macs.ts';
import {
  sameStamp,
  type Descriptor,
  type FileStamp,
  type FileSystem,
  type FileSystemReader,
} from './file-system.ts';
import { lengthChanged } from './integrity.ts';

/** Plain data but for `bytes`, which is shared memory where threads are involved. */
export interface BlockRead {
  readonly file: Descriptor;
  /** Filled whole. */
  readonly bytes: Uint8Array;
  /** Byte position in the file. */
  readonly position: number;
  /** How messages call the file. */
  readonly name: string;
  /** The state in which the file was proven. */
  readonly stamp: FileStamp;
  /** Null where the proof was remembered and not made for this read. */
  readonly mac: ExpectedMac | null;
}

/** Leaves the reading to the file system's own threads. Throws like `readBlockSync`. */
export async function readBlock(fs: FileSystem, read: BlockRead): Promise<void> {
  let filled = 0;
  while (filled < read.bytes.length) {
    const count = await fs.read(read.file, read.bytes.subarray(filled), read.position + filled);
    if (count === 0) throw lengthChanged(read.name);
    filled += count;
  }
  checkBlock(fs, read);
}

/** Reads in the calling thread. Throws `length` or `checksum` unless the block is what was proven, or the read's own error. */
export function readBlockSync(fs: FileSystemReader, read: BlockRead): void {
  const { file, bytes, position } = read;
  let filled = 0;
  while (filled < bytes.length) {
    const count = fs.readSync(file, bytes, filled, bytes.length - filled, position + filled);
    if (count === 0) throw lengthChanged(read.name);
    filled += count;
  }
  checkBlock(fs, read);
}

function checkBlock(fs: FileSystemReader, { file, bytes, name, stamp, mac }: BlockRead): void {
  if (!sameStamp(fs.statOpen(file), stamp)) throw changed(name);
  if (mac !== null && !hasMac(bytes, mac)) throw changed(name);
}

function changed(name: string): StorageIntegrityError {
  return new StorageIntegrityError(`${name} changed while it was being read.`, {
    problem: 'checksum',
    location: name,
  });
}
