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

/** Creates a small file, writes all of it and starts its fsync; the returned promise settles when it is durable. */
export async function writeSmallFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
): Promise<{ readonly synced: Promise<void> }> {
  const file = await fs.createFile(path);
  try {
    await writeFully(fs, file, bytes, 0);
  } catch (error) {
    await fs.close(file).catch(() => undefined);
    throw error;
  }
  const synced = closeAfter(fs, file, fs.sync(file));
  synced.catch(() => undefined);
  return { synced };
}
