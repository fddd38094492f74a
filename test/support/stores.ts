/** Temporary stores, valid metadata and looks at the disk that do not go through the store's own code. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

import { SnapshotError, type ErrorCode } from '../../src/contract/errors.ts';
import type { ArrayInput } from '../../src/store/arrivals.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import type { StoreOptions } from '../../src/store/store-options.ts';
import { declarations, idOf, metadataOf } from './example.ts';

export { declarations, idOf, metadataOf };

/** `length` bytes that differ from block to block and do not repeat with a power of two. */
export function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    bytes[at] = state >>> 16;
  }
  return bytes;
}

export function makeRoot(parent = tmpdir()): string {
  return fs.mkdtempSync(join(parent, 'snapshots-'));
}

/** A root in memory where the machine has room there: for thousands of short runs that need no disk. */
export function makeLightRoot(): string {
  return makeRoot(LIGHT);
}

const LIGHT = hasRoom('/dev/shm', 512 * 1024 * 1024) ? '/dev/shm' : tmpdir();

function hasRoom(path: string, bytes: number): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(path);
    fs.accessSync(path, fs.constants.W_OK);
    return bavail * bsize >= bytes;
  } catch {
    return false;
  }
}

/** A root that is gone after the test. */
export function temporaryRoot({ onDisk = false } = {}): string {
  const root = onDisk ? makeRoot() : makeLightRoot();
  onTestFinished(() => {
    removeRoot(root);
  });
  return root;
}

export function removeRoot(root: string): void {
  fs.rmSync(root, { recursive: true, force: true });
}

export function storeAt(root: string, options: Partial<StoreOptions> = {}): LocalSnapshotStore {
  return new LocalSnapshotStore(root, { declarations, ...options });
}

export interface TestStore {
  readonly root: string;
  readonly store: LocalSnapshotStore;
}

/** An empty store under a root that is gone after the test. */
export function temporaryStore(options: Partial<StoreOptions> & { onDisk?: boolean } = {}): TestStore {
  const root = temporaryRoot(options);
  return { root, store: storeAt(root, options) };
}

/** Publishes with valid metadata; small arrays unless others are given. */
export function publishExample(
  store: LocalSnapshotStore,
  id: string,
  arrays: Record<string, ArrayInput> = { ids: new BigUint64Array([1n, 2n, 3n]) },
  changes: Record<string, unknown> = {},
) {
  return store.publish(metadataOf(id, changes), arrays);
}

export function packagePath(root: string, id: string, ...file: string[]): string {
  return join(root, 'snapshots', id, ...file);
}

export function attemptsOf(root: string): string[] {
  return fs.readdirSync(join(root, 'staging')).sort();
}

/** Everything below `root` that a change could touch: kinds, sizes, inodes, times to the nanosecond and contents. */
export function treeOf(root: string, { contents = true } = {}): Map<string, string> {
  const tree = new Map<string, string>();
  // Bytes, as names on a disk need not be text.
  const visit = (path: Buffer, name: string): void => {
    const stat = fs.lstatSync(path, { bigint: true });
    const state = [stat.mode, stat.ino, stat.nlink, stat.size, stat.mtimeNs, stat.ctimeNs].map(String);
    if (stat.isSymbolicLink()) state.push(fs.readlinkSync(path));
    if (stat.isFile() && contents) state.push(fs.readFileSync(path).toString('base64'));
    tree.set(name, state.join(' '));
    if (!stat.isDirectory()) return;
    for (const entry of fs.readdirSync(path, { encoding: 'buffer' })) {
      visit(Buffer.concat([path, Buffer.from('/'), entry]), `${name}/${entry.toString('latin1')}`);
    }
  };
  visit(Buffer.from(root), '.');
  return tree;
}

/** The refusal that `action` ends in; fails where there is none or the error has no code of the contract. */
export async function refusalOf<C extends ErrorCode = ErrorCode>(
  action: Promise<unknown> | (() => Promise<unknown>),
  code?: C,
): Promise<SnapshotError<C>> {
  let error: unknown;
  try {
    await (typeof action === 'function' ? action() : action);
  } catch (thrown) {
    error = thrown;
  }
  if (!(error instanceof SnapshotError)) {
    throw new Error(`Expected a refusal, found ${String(error)}.`, { cause: error });
  }
  if (code !== undefined && error.code !== code) {
    throw new Error(`Expected ${code}, found ${error.code}: ${error.message}`, { cause: error });
  }
  return error as SnapshotError<C>;
}

/** Copies of all blocks of a payload, or of what came before it failed. */
export async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const block of blocks) copies.push(Buffer.from(block));
  return Buffer.concat(copies);
}

/** `bytes` in pieces of the given sizes, over and over. */
export async function* inPieces(bytes: Uint8Array, ...sizes: number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
    if (turn % 64 === 0) await Promise.resolve();
  }
}
