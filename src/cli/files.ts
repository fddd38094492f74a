/**
 * Files on this side: worked on by one run alone, continued where an earlier one broke off, written whole, and proven as
 * they lie in the file after the last write, before they get their name.
 */
import { createHash } from 'node:crypto';
import { constants, readFileSync, readlinkSync } from 'node:fs';
import {
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { SnapshotClient } from '../client/index.ts';
import { sha256Hex } from '../contract/digest.ts';
import { payloadFileName } from '../contract/package.ts';
import { CommandError, reasonOf } from './errors.ts';

/** What a file is to hold: a header (of a .npy file) or nothing, then a payload. */
export interface Content {
  readonly header: Uint8Array;
  /** Bytes of the payload. */
  readonly byteLength: number;
  /** Of the payload, 64 lowercase hex digits. */
  readonly sha256: string;
}

export interface WantedArray extends Content {
  readonly id: string;
  readonly key: string;
}

/** What is being made under another name. */
export interface Part {
  readonly path: string;
  /** Gives it the name under which the next run looks for what broke off, and tells that; null if nothing is worth keeping. */
  keep(): Promise<string | null>;
}

const UNFINISHED = '.part';

/**
 * What no run on another machine, in another container or before a restart has in common with this one: only among
 * those that share it does a process id say whether its process still runs.
 */
function machine(): string {
  const facts = [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ].map((read) => {
    try {
      return read();
    } catch {
      return '';
    }
  });
  return sha256Hex(Buffer.from([hostname(), ...facts].join('\n'))).slice(0, 8);
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return reasonOf(error) !== 'ESRCH';
  }
}

/**
 * Makes `<target>.part.<run>`, which belongs to this run alone: out of what an earlier one left behind (renamed, so that
 * only one can take it), else anew. Throws `CommandError` where what is called `<target>.part` is of another kind.
 */
export async function claimPart(target: string, kind: 'file' | 'directory'): Promise<Part> {
  const here = machine();
  const path = `${target}${UNFINISHED}.${here}-${process.pid}`;
  const kept = `${target}${UNFINISHED}`;
  // One of the own process id is that of a process which ended before this one began.
  for (const found of [path, kept, ...(await abandoned(target, here))]) {
    if (await take(found, path, kind)) return { path, keep: () => keep(path, kept, kind) };
  }
  try {
    if (kind === 'directory') await mkdir(path);
    else await (await open(path, 'wx')).close();
  } catch (error) {
    throw new CommandError('failed', `${target} cannot be made (${reasonOf(error)})`, { cause: error });
  }
  return { path, keep: () => keep(path, kept, kind) };
}

/** Parts of runs on this machine that were killed. */
async function abandoned(target: string, here: string): Promise<readonly string[]> {
  const beginning = `${basename(target)}${UNFINISHED}.${here}-`;
  const names = await readdir(dirname(target)).catch(() => []);
  return names
    .filter((name) => name.startsWith(beginning))
    .filter((name) => {
      const pid = name.slice(beginning.length);
      return /^[1-9]\d*$/u.test(pid) && Number(pid) !== process.pid && !runs(Number(pid));
    })
    .map((name) => join(dirname(target), name));
}

async function take(found: string, path: string, kind: 'file' | 'directory'): Promise<boolean> {
  const stats = await lstat(found).catch(() => null);
  if (stats === null) return false;
  if (kind === 'directory' ? !stats.isDirectory() : !stats.isFile()) {
    throw new CommandError('target_exists', `${found} is there and is no ${kind}; move it away`);
  }
  // A second name of it is another's: writing here would change that too.
  if (kind === 'file' && stats.nlink > 1) return false;
  if (found === path) return true;
  return rename(found, path).then(
    () => true,
    // Another run was faster.
    () => false,
  );
}

async function keep(path: string, kept: string, kind: 'file' | 'directory'): Promise<string | null> {
  if (kind === 'directory') {
    const isEmpty = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (isEmpty) return null;
  } else {
    const stats = await lstat(path).catch(() => null);
    if (stats === null) return null;
    if (stats.size === 0) {
      await rm(path, { force: true });
      return null;
    }
  }
  return rename(path, kept).then(
    () => kept,
    () => path,
  );
}

/**
 * Puts an array at `path`. `present`: another run was faster, and it is the same. A part that turns out wrong is fetched
 * once more from its beginning, as it may stem from another array. Throws `CommandError` and what the client throws.
 */
export async function downloadFile(
  client: SnapshotClient,
  wanted: WantedArray,
  path: string,
  { onBytes, onKept, signal }: DownloadOptions & { readonly onKept: (part: string | null) => void },
): Promise<'saved' | 'present'> {
  const part = await claimPart(resolve(path), 'file');
  try {
    await fill(client, wanted, part.path, { onBytes, signal });
    if (await takesName(part.path, path)) return 'saved';
    if (!(await holds(path, wanted))) throw existsAlready(path);
    await rm(part.path, { force: true });
    return 'present';
  } catch (error) {
    onKept(await part.keep());
    throw error;
  }
}

export function existsAlready(path: string): CommandError {
  return new CommandError(
    'target_exists',
    `${path} is there with other content; choose another name with -o, or remove it`,
  );
}

export interface DownloadOptions {
  readonly onBytes: (count: number) => void;
  readonly signal: AbortSignal;
}

/** As `downloadFile`, in a directory that belongs to this run alone. */
export async function downloadInto(
  client: SnapshotClient,
  wanted: WantedArray,
  path: string,
  options: DownloadOptions,
): Promise<void> {
  if (await holds(path, wanted)) {
    options.onBytes(wanted.byteLength);
    return;
  }
  const part = `${path}${UNFINISHED}`;
  await rm(path, { force: true });
  await fill(client, wanted, part, options);
  await rename(part, path);
}

/** Makes the part hold what is wanted. What is known to be wrong is removed. */
async function fill(
  client: SnapshotClient,
  wanted: WantedArray,
  part: string,
  options: DownloadOptions,
): Promise<void> {
  const file = await openPart(part);
  try {
    const all = wanted.header.length + wanted.byteLength;
    const { size } = await file.stat();
    const kept = size < wanted.header.length ? 0 : Math.min(size, all);
    let found = await fetchRest(client, wanted, file, kept, options);
    if (found !== wanted.sha256 && kept > 0) {
      options.onBytes(-wanted.byteLength);
      found = await fetchRest(client, wanted, file, 0, options);
    }
    if (found === wanted.sha256) return;
    throw new CommandError(
      'checksum_mismatch',
      `array ${wanted.key} of ${wanted.id}: expected SHA-256 ${wanted.sha256}, found ${found} in the file after the ` +
        'last write; it was removed, fetch it again',
    );
  } catch (error) {
    if ((error as { code?: unknown }).code === 'checksum_mismatch') await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function openPart(part: string): Promise<FileHandle> {
  try {
    // A link would make this run write somewhere else.
    return await open(part, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o666);
  } catch (error) {
    throw new CommandError('failed', `${part} cannot be written (${reasonOf(error)})`, { cause: error });
  }
}

/** Keeps the first `kept` bytes, appends the rest, and tells what then lies in the file. */
async function fetchRest(
  client: SnapshotClient,
  { id, key, header, byteLength }: WantedArray,
  file: FileHandle,
  kept: number,
  { onBytes, signal }: DownloadOptions,
): Promise<string> {
  await file.truncate(kept);
  if (kept === 0) await writeAll(file, header, 0, payloadFileName(key));
  let at = Math.max(kept, header.length);
  onBytes(at - header.length);
  // An empty rest needs no request, and has no range.
  if (at < header.length + byteLength) {
    for await (const block of client.streamArray(id, key, { start: at - header.length, signal })) {
      await writeAll(file, block, at, payloadFileName(key));
      at += block.length;
      onBytes(block.length);
    }
  }
  await file.sync();
  return digestOf(file, header);
}

/** A write may be short: then the rest is written, or the disk says why it cannot be. */
export async function writeAll(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
  name: string,
): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    try {
      at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    } catch (error) {
      throw new CommandError(
        'failed',
        `${name} cannot be written beyond its first ${position + at} bytes (${reasonOf(error)})`,
        { cause: error },
      );
    }
  }
}

const PIECE_BYTES = 1024 * 1024;

/** The SHA-256 of what lies in the file behind the header, or of nothing valid where that is another one. */
async function digestOf(file: FileHandle, header: Uint8Array): Promise<string> {
  const start = Buffer.alloc(header.length);
  if ((await readFully(file, start, 0)) < header.length || !start.equals(header)) return 'another header';
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = header.length; ;) {
    const length = await readFully(file, piece, at);
    hash.update(piece.subarray(0, length));
    if (length < piece.length) return hash.digest('hex');
    at += length;
  }
}

async function readFully(file: FileHandle, target: Buffer, position: number): Promise<number> {
  let at = 0;
  while (at < target.length) {
    const { bytesRead } = await file.read(target, at, target.length - at, position + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at;
}

/** Whether a regular file holds exactly this; false if there is none. Throws `CommandError` for anything else there. */
export async function holds(path: string, { header, byteLength, sha256 }: Content): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (reasonOf(error) === 'ENOENT') return null;
    throw new CommandError('failed', `${path} cannot be used (${reasonOf(error)})`, { cause: error });
  });
  if (found === null) return false;
  if (!found.isFile()) throw new CommandError('target_exists', `${path} is there and is no regular file`);
  if (found.size !== header.length + byteLength) return false;
  const file = await open(path, 'r');
  try {
    return (await digestOf(file, header)) === sha256;
  } finally {
    await file.close();
  }
}

/** Writes a small file whole, durably, proven and by one rename, in a directory that belongs to this run alone. */
export async function writeSmall(path: string, bytes: Uint8Array): Promise<void> {
  const part = `${path}${UNFINISHED}`;
  const file = await openPart(part);
  try {
    await file.truncate(0);
    await writeAll(file, bytes, 0, basename(path));
    await file.sync();
    if ((await digestOf(file, Buffer.alloc(0))) !== sha256Hex(bytes)) {
      throw new CommandError('checksum_mismatch', `${path} does not hold what was written to it`);
    }
  } finally {
    await file.close();
  }
  await rename(part, path);
}

/** Unlike a rename, a link never replaces what is there. */
async function takesName(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'EEXIST') return false;
    if (reason === 'ENOENT') throw goneAway(part);
    // A file system without links.
    if ((await lstat(path).catch(() => null)) !== null) return false;
    await rename(part, path);
    await syncDirectory(dirname(path));
    return true;
  }
  await syncDirectory(dirname(path));
  await unlink(part);
  return true;
}

/** Puts a whole directory in place; false if one that is not empty is there. */
export async function directoryTakesName(part: string, path: string): Promise<boolean> {
  await syncDirectory(part);
  try {
    await rename(part, path);
  } catch (error) {
    const reason = reasonOf(error);
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(reason)) return false;
    if (reason === 'ENOENT') throw goneAway(part);
    throw error;
  }
  await syncDirectory(dirname(path));
  return true;
}

function goneAway(part: string): CommandError {
  return new CommandError(
    'failed',
    `${basename(part)} was taken away while it was being made; run the command again`,
  );
}

/** Where the platform can: without it a rename may be undone by a power cut. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** With all directories above it. Node's own recursive way never ends where the system denies that a parent exists. */
export async function makeDirectory(path: string): Promise<void> {
  const isThere = (await stat(path).catch(() => null))?.isDirectory() === true;
  if (isThere || dirname(path) === path) return;
  await makeDirectory(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (reasonOf(error) === 'EEXIST') return;
    throw new CommandError('failed', `${path} cannot be made (${reasonOf(error)})`, { cause: error });
  });
}
