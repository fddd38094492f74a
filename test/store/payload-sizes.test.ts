import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { SnapshotError } from '../../src/contract/errors.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { FaultFileSystem, isError, type FaultKind, type Operation } from '../support/fault-file-system.ts';
import { emptyDirectory, memoryFileSystem, type MemoryDirectory } from '../support/memory-file-system.ts';
import { collect, declarations, idOf, metadataOf, pattern } from '../support/stores.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Around the piece in which the engine writes, reads back and hashes, and around the block; the last is many of both. */
const SIZES = [0, 1, 128 * KIB - 1, 128 * KIB, 128 * KIB + 1, MIB - 1, MIB, MIB + 1, 3 * MIB];
const KINDS: readonly FaultKind[] = ['EIO', 'half', 'none', 'flip', 'lost'];
const ROOT = '/store';
const ID = idOf(1);

/** A store on a disk in memory: cheap enough to let every operation of 3 MiB fail once. */
async function storeInMemory() {
  const tree = emptyDirectory();
  const fs = new FaultFileSystem(ROOT, memoryFileSystem(tree));
  const store = new LocalSnapshotStore(ROOT, { declarations, fileSystem: fs });
  await store.prepare();
  return { tree, fs, store };
}

function bytesAt(tree: MemoryDirectory, path: string): Uint8Array | null {
  let node: MemoryDirectory | ReturnType<MemoryDirectory['entries']['get']> = tree;
  for (const step of path.split('/')) node = node?.kind === 'directory' ? node.entries.get(step) : undefined;
  return node?.kind === 'file' ? node.bytes : null;
}

function named(kind: FaultKind, at: number, struck: Operation | null): string {
  return `${kind} at operation ${at} (${struck?.method ?? ''} ${struck?.path ?? ''} ${struck?.position ?? ''})`;
}

describe('every operation of one payload fails once', () => {
  test.each(SIZES)(
    'while %i bytes are published: all of it or nothing, and no descriptor left',
    async (size) => {
      const bytes = pattern(size);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const violations: string[] = [];
      let faults = 0;
      for (const kind of KINDS) {
        for (let at = 1; ; at += 1) {
          const { tree, fs, store } = await storeInMemory();
          fs.arm({ at, kind });
          const error: unknown = await store
            .publish(metadataOf(ID), { a: bytes })
            .then(() => null)
            .catch((thrown: unknown) => thrown);
          if (fs.struck === null) {
            expect(error).toBeNull();
            break;
          }
          faults += 1;
          const where = named(kind, at, fs.struck);
          const stored = bytesAt(tree, `store/snapshots/${ID}/array-a.bin`);
          const renamed = fs.log.some(({ method, outcome }) => method === 'rename' && outcome === 'done');
          if (fs.open.size > 0) violations.push(`${where}: left open ${[...fs.open.values()].join()}`);
          if (error === null && isError(kind)) violations.push(`${where}: the failure was swallowed`);
          if (error !== null && kind === 'half')
            violations.push(`${where}: a short transfer was not carried on`);
          if (error !== null && !(error instanceof SnapshotError))
            violations.push(`${where}: ${(error as Error).message}`);
          if (renamed !== (stored !== null)) violations.push(`${where}: not where its answer says`);
          if (stored !== null && createHash('sha256').update(stored).digest('hex') !== sha256)
            violations.push(`${where}: wrong bytes were published`);
        }
      }
      expect(violations).toEqual([]);
      // Each piece is written and read back.
      expect(faults).toBeGreaterThan(80 + (size > MIB ? (2 * KINDS.length * size) / (256 * KIB) : 0));
    },
  );

  test.each(SIZES)(
    'while %i bytes are read: the right bytes or a refusal',
    { timeout: 180_000 },
    async (size) => {
      const bytes = pattern(size);
      const { fs, store } = await storeInMemory();
      await store.publish(metadataOf(ID), { a: bytes });
      const reads = {
        proof: async () => bytes,
        array: async () => {
          const payload = await store.openArray(ID, 'a');
          try {
            return await collect(payload.blocks());
          } finally {
            await payload.close();
          }
        },
        package: async () => {
          const { files } = await store.openPackage(ID);
          const contents: Uint8Array[] = [];
          for (const file of files) contents.push(await collect(file.blocks()));
          return contents[files.findIndex(({ name }) => name === 'array-a.bin')] as Uint8Array;
        },
        opened: async () => (await store.open(ID)).arrays['a'] as unknown as Uint8Array,
      };
      const violations: string[] = [];
      for (const [name, read] of Object.entries(reads)) {
        for (const kind of ['EIO', 'half', 'none'] as const) {
          for (let at = 1; ; at += 1) {
            fs.arm({ at, kind });
            let got: Uint8Array | null = null;
            let error: unknown = null;
            try {
              if (name === 'proof') await store.readManifest(ID);
              got = await read();
            } catch (thrown) {
              error = thrown;
            }
            const struck = fs.struck;
            fs.disarm();
            const where = `${name}: ${named(kind, at, struck)}`;
            if (got !== null && !Buffer.from(got).equals(bytes)) violations.push(`${where}: wrong bytes`);
            if (fs.open.size > 0) violations.push(`${where}: left open`);
            if (struck === null) break;
            if (error !== null && kind === 'half')
              violations.push(`${where}: a short read was not carried on`);
            if (error === null && kind === 'EIO') violations.push(`${where}: the failure was swallowed`);
            if (error !== null && !(error instanceof SnapshotError))
              violations.push(`${where}: ${(error as Error).message}`);
          }
        }
      }
      expect(violations).toEqual([]);
    },
  );
});
