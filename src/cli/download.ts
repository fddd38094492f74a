/** Files on this side: continued where they broke off, proven on arrival, and put in place by one rename. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ChecksumMismatchError, type SnapshotClient } from '../client/index.ts';
import { reasonOf, UsageError } from './exit-codes.ts';

export interface WantedArray {
  readonly id: string;
  readonly key: string;
  /** Bytes. */
  readonly byteLength: number;
  /** 64 lowercase hex digits. */
  readonly sha256: string;
}

/**
 * Puts an array at `path`: `<path>.part` is continued if it is there. A part that turns out wrong is fetched once more
 * from its beginning, as it may stem from another array. Throws `ChecksumMismatchError` if that is wrong too.
 */
export async function download(
  client: SnapshotClient,
  wanted: WantedArray,
  path: string,
  onBytes: (count: number) => void,
): Promise<void> {
  const part = `${path}.part`;
  const kept = Math.min((await sizeOf(part)) ?? 0, wanted.byteLength);
  let written = await fill(client, wanted, part, kept, onBytes);
  if (written !== wanted.sha256 && kept > 0) {
    onBytes(-wanted.byteLength);
    written = await fill(client, wanted, part, 0, onBytes);
  }
  if (written !== wanted.sha256) {
    await rm(part, { force: true });
    throw new ChecksumMismatchError(`array ${wanted.key} of ${wanted.id}`, wanted.sha256, written);
  }
  await rename(part, path);
  await syncDirectory(dirname(path));
}

/** Keeps the first `kept` bytes of the part, appends the rest, and gives the SHA-256 of all of it. */
async function fill(
  client: SnapshotClient,
  { id, key, byteLength }: WantedArray,
  part: string,
  kept: number,
  onBytes: (count: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(part, kept === 0 ? 'w' : 'r+');
  try {
    await file.truncate(kept);
    if (kept > 0) {
      for await (const block of createReadStream(part, { end: kept - 1 }) as AsyncIterable<Buffer>)
        hash.update(block);
      onBytes(kept);
    }
    let at = kept;
    // An empty rest needs no request, and has no range.
    if (at < byteLength) {
      for await (const block of client.streamArray(id, key, { start: at })) {
        hash.update(block);
        await file.write(block, 0, block.length, at);
        at += block.length;
        onBytes(block.length);
      }
    }
    await file.sync();
  } catch (error) {
    // Bytes that are known to be wrong must not be continued.
    if (error instanceof ChecksumMismatchError) await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

/** Writes a small file whole, durably and by one rename. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, 'w');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}

/** The SHA-256 of a file, or null if there is none. Throws `UsageError` for anything but a regular file. */
export async function digestOf(path: string): Promise<string | null> {
  if ((await sizeOf(path)) === null) return null;
  const hash = createHash('sha256');
  for await (const block of createReadStream(path) as AsyncIterable<Buffer>) hash.update(block);
  return hash.digest('hex');
}

/** Bytes, or null if nothing is there. */
async function sizeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch((error: unknown) => {
    if (reasonOf(error) === 'ENOENT') return null;
    throw new UsageError(`${path} cannot be used (${reasonOf(error)})`);
  });
  if (found !== null && !found.isFile()) throw new UsageError(`${path} is there and is no regular file`);
  return found?.size ?? null;
}

/** Where the platform can: without it a rename may be undone by a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
