/** Writing and closing files so that no failure of a write, a sync or a close is lost. */
import type { BlockingWriter, Descriptor, FileSystem } from './file-system.ts';

/** Writes all of `bytes` at `position`, going on after short writes. */
export async function writeFully(
  fs: FileSystem,
  file: Descriptor,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await fs.write(file, written === 0 ? bytes : bytes.subarray(written), position + written);
    if (count === 0) throw nothingWritten();
    written += count;
  }
}

/** The same in the calling thread. */
export function writeFullySync(
  fs: BlockingWriter,
  file: Descriptor,
  bytes: Uint8Array,
  position: number,
): void {
  let written = 0;
  while (written < bytes.length) {
    const count = fs.writeSync(file, written === 0 ? bytes : bytes.subarray(written), position + written);
    if (count === 0) throw nothingWritten();
    written += count;
  }
}

function nothingWritten(): Error {
  return Object.assign(new Error('write returned 0 bytes'), { code: 'EIO', syscall: 'write' });
}

/** Closes once the sync has settled; a failed close counts, as it may be the first word of a failed write. */
export async function closeAfter(fs: FileSystem, file: Descriptor, synced: Promise<void>): Promise<void> {
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
export function writeAndSync(fs: FileSystem, creating: Promise<Descriptor>, bytes: Uint8Array): SmallFile {
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

/** Creates a small file and writes all of it; the returned promise settles when it is durable. */
export async function writeSmallFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
): Promise<{ readonly synced: Promise<void> }> {
  const { stored, synced } = writeAndSync(fs, fs.createFile(path), bytes);
  await stored;
  return { synced };
}
