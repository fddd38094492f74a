import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { FileStat, FileStamp, FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { FILE_STAMPS, ProofMemory } from '../../src/store/proof-memory.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import {
  collect,
  idOf,
  packagePath,
  pattern,
  publishExample,
  refusalOf,
  storeAt,
  temporaryRoot,
} from '../support/stores.ts';

const ID = idOf(7);
const LARGE = pattern(2 * 1024 * 1024 + 5);
const MINUTE = 60_000;

/** All files are a minute older than the disk says: old enough for their proofs to be remembered. */
const aged = (stat: FileStat): FileStat => ({ ...stat, ctimeNs: stat.ctimeNs - 60_000_000_000n });
const agedFileSystem: FileSystem = {
  ...nodeFileSystem,
  statEntry: (path) => aged(nodeFileSystem.statEntry(path)),
  statOpen: (file) => aged(nodeFileSystem.statOpen(file)),
};

async function rememberingStore(inner = agedFileSystem) {
  const root = temporaryRoot();
  await publishExample(storeAt(root), ID, { large: LARGE, small: new Uint8Array([1, 2, 3]) });
  const fileSystem = new FaultFileSystem(root, inner);
  const store = storeAt(root, { fileSystem, verify: 'once', verifyMaxAgeMs: 10 * MINUTE });
  /** How often a file was read by `work`. */
  const readsOf = async (file: string, work: () => Promise<unknown>): Promise<number> => {
    const start = fileSystem.log.length;
    await work();
    expect(fileSystem.open.size).toBe(0);
    return fileSystem.log
      .slice(start)
      .filter(({ method, path }) => method === 'readSync' && path.endsWith(file)).length;
  };
  return { root, store, fileSystem, readsOf, file: packagePath(root, ID, 'array-large.bin') };
}

describe("verify: 'once'", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('an unchanged payload is hashed once, its frame is proven every time', async () => {
    const { store, readsOf } = await rememberingStore();
    const read = () => store.readManifest(ID);
    expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
    expect(await readsOf('array-large.bin', read)).toBe(0);
    expect(await readsOf('array-large.bin', () => store.listSnapshots())).toBe(0);
    expect(await readsOf('manifest.json', read)).toBeGreaterThan(0);
    expect(await readsOf('complete.sha256', read)).toBeGreaterThan(0);
    expect(await readsOf('intent.json', read)).toBeGreaterThan(0);
  });

  test('an opened array is remembered too, and still comes back exactly', async () => {
    const { store, readsOf } = await rememberingStore();
    const read = async () => {
      const payload = await store.openArray(ID, 'large');
      expect((await collect(payload.blocks())).equals(LARGE)).toBe(true);
      await payload.close();
    };
    // Of its three blocks, each is read once to be sent; before that, the first time, to be proven.
    expect(await readsOf('array-large.bin', read)).toBeGreaterThanOrEqual(6);
    expect(await readsOf('array-large.bin', read)).toBe(3);
    expect(await readsOf('array-small.bin', () => store.readManifest(ID))).toBeGreaterThan(0);
  });

  test('without it every read proves every byte', async () => {
    const { root } = await rememberingStore();
    const fileSystem = new FaultFileSystem(root, agedFileSystem);
    const store = storeAt(root, { fileSystem });
    for (const turn of [1, 2, 3]) {
      await store.readManifest(ID);
      expect(fileSystem.count('readSync') % turn).toBe(0);
      expect(fileSystem.count('readSync')).toBeGreaterThanOrEqual(turn * 10);
    }
  });

  test('bytes changed behind a restored size and mtime are found at the next read', async () => {
    const { store, file } = await rememberingStore();
    const time = new Date('2020-01-01T00:00:00Z');
    fs.utimesSync(file, time, time);
    const before = fs.statSync(file, { bigint: true });
    await store.readManifest(ID);
    const descriptor = fs.openSync(file, 'r+');
    fs.writeSync(descriptor, Buffer.from([LARGE[1_000_000]! ^ 1]), 0, 1, 1_000_000);
    fs.closeSync(descriptor);
    fs.utimesSync(file, time, time);
    const { size, mtimeNs } = fs.statSync(file, { bigint: true });
    expect({ size, mtimeNs }).toEqual({ size: before.size, mtimeNs: before.mtimeNs });
    const { details } = await refusalOf(store.readManifest(ID), 'storage_integrity');
    expect(details.problem).toBe('checksum');
    await refusalOf(store.openArray(ID, 'large'), 'storage_integrity');
  });

  test('the same bytes in a new state are proven anew, once', async () => {
    for (const way of ['readManifest', 'openArray'] as const) {
      const { store, file, readsOf } = await rememberingStore();
      const read = async () => {
        if (way === 'readManifest') await store.readManifest(ID);
        else await (await store.openArray(ID, 'large')).close();
      };
      await read();
      fs.writeFileSync(file, LARGE);
      expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
      expect(await readsOf('array-large.bin', read)).toBe(0);
    }
  });

  test('a proof expires: reads that rest on it do not renew it', async () => {
    const { store, readsOf } = await rememberingStore();
    const read = () => store.readManifest(ID);
    await read();
    vi.advanceTimersByTime(9 * MINUTE);
    expect(await readsOf('array-large.bin', read)).toBe(0);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
    expect(await readsOf('array-large.bin', read)).toBe(0);
  });

  test('a clock that is set back does not keep proofs', async () => {
    const { store, readsOf } = await rememberingStore();
    const read = () => store.readManifest(ID);
    await read();
    vi.setSystemTime(Date.now() - 60 * MINUTE);
    expect(await readsOf('array-large.bin', read)).toBe(0);
    vi.advanceTimersByTime(11 * MINUTE);
    expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
  });

  test('a file that changed a moment ago is not remembered: its stamp may not tell of the next change', async () => {
    const { store, readsOf } = await rememberingStore(nodeFileSystem);
    const read = () => store.readManifest(ID);
    expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
    expect(await readsOf('array-large.bin', read)).toBeGreaterThan(1);
    vi.advanceTimersByTime(3000);
    await read();
    expect(await readsOf('array-large.bin', read)).toBe(0);
  });

  test('a length that does not hold is refused although the proof is remembered', async () => {
    const { store, file } = await rememberingStore();
    await store.readManifest(ID);
    fs.truncateSync(file, LARGE.length - 1);
    const { details } = await refusalOf(store.readManifest(ID), 'storage_integrity');
    expect(details.problem).toBe('length');
  });
});

describe('the memory itself', () => {
  const stamp: FileStamp = { dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs: 5n };

  const now = () => ({ monotonic: 1e9, wall: 1e9 });

  test('gives nothing that it was not told, and forgets the longest unread first', () => {
    const memory = new ProofMemory(FILE_STAMPS, 1000, 64 * 1024, now);
    expect(memory.known(ID)).toEqual({});
    memory.remember(ID, {}, { f: stamp }, memory.now());
    expect(memory.known(ID)).toEqual({ f: stamp });
    for (let number = 0; number < 1000; number += 1)
      memory.remember(`x${number}`, {}, { f: stamp }, memory.now());
    expect(memory.known(ID)).toEqual({});
    expect(memory.known('x999')).toEqual({ f: stamp });
  });

  test('counts files, not snapshots: what one snapshot of many arrays takes is bounded too', () => {
    const memory = new ProofMemory(FILE_STAMPS, 1000, 1024 * 1024, now);
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`array-k${index}.bin`, stamp]));
    memory.remember(ID, {}, files(2000), memory.now());
    expect(memory.bytes).toBeGreaterThan(2000 * 100);
    expect(Object.keys(memory.known(ID))).toHaveLength(2000);
    for (let number = 0; number < 10; number += 1)
      memory.remember(`x${number}`, {}, files(2000), memory.now());
    expect(memory.bytes).toBeLessThanOrEqual(1024 * 1024);
    memory.remember('huge', {}, files(20_000), memory.now());
    expect(memory.known('huge')).toEqual({});
    expect(memory.bytes).toBeLessThanOrEqual(1024 * 1024);
  });
});
