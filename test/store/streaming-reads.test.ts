import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import { StorageIntegrityError } from '../../src/contract/errors.ts';
import type { ArrayEntry } from '../../src/contract/manifest.ts';
import { BlockPool } from '../../src/store/blocks.ts';
import type { Executor } from '../../src/store/engine.ts';
import type { FileSystem } from '../../src/store/file-system.ts';
import { StoredPayload } from '../../src/store/reading.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import {
  collect,
  idOf,
  packagePath,
  pattern,
  publishExample,
  storeAt,
  temporaryRoot,
} from '../support/stores.ts';

const ID = idOf(5);
const MIB = 1024 * 1024;
const SIZE = 5 * MIB + 11;

async function openLarge(options: { verify?: 'always' | 'once' } = {}) {
  const root = temporaryRoot();
  const bytes = pattern(SIZE);
  await publishExample(storeAt(root), ID, { n: bytes });
  const fileSystem = new FaultFileSystem(root);
  const store = storeAt(root, { fileSystem, ...options });
  const payload = await store.openArray(ID, 'n');
  return { bytes, fileSystem, store, payload, file: packagePath(root, ID, 'array-n.bin') };
}

/** Reads on after `change` was made at block number `at`: what came, and how it ended. */
async function readWhile(payload: StoredPayload, at: number, change: () => void, blocks = payload.blocks()) {
  let length = 0;
  let error: unknown = null;
  let number = 0;
  try {
    for await (const block of blocks) {
      length += block.length;
      number += 1;
      if (number === at) change();
    }
  } catch (thrown) {
    error = thrown;
  }
  return { length, error };
}

function flipByte(file: string, offset: number): void {
  const descriptor = fs.openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  fs.readSync(descriptor, byte, 0, 1, offset);
  byte[0]! ^= 1;
  fs.writeSync(descriptor, byte, 0, 1, offset);
  fs.closeSync(descriptor);
}

describe('a payload that stops being what was proven while it streams', () => {
  const changes: Record<string, (file: string) => void> = {
    'a byte ahead flipped': (file) => {
      flipByte(file, SIZE - 2);
    },
    'a byte behind flipped': (file) => {
      flipByte(file, 3);
    },
    'cut short': (file) => {
      fs.truncateSync(file, 4 * MIB);
    },
    emptied: (file) => {
      fs.truncateSync(file, 0);
    },
    'one byte longer': (file) => {
      fs.appendFileSync(file, 'x');
    },
    'overwritten with the same bytes': (file) => {
      fs.writeFileSync(file, fs.readFileSync(file));
    },
  };
  const cases = Object.keys(changes).flatMap((name) => [1, 2, 3].map((at) => [name, at] as const));

  test.each(cases)('%s after block %i: ends in an error before the last block', async (name, at) => {
    const { payload, file, fileSystem } = await openLarge();
    const { length, error } = await readWhile(payload, at, () => {
      changes[name]!(file);
    });
    expect(error).toBeInstanceOf(StorageIntegrityError);
    expect(error).toMatchObject({ details: { snapshot_id: ID, location: 'array-n.bin' } });
    expect(length).toBeLessThan(SIZE - 11 + 1);
    await payload.close();
    expect(fileSystem.open.size).toBe(0);
  });

  const reads = {
    'a whole read': [0, SIZE, 2 * MIB],
    'a range over several blocks': [MIB - 5, 4 * MIB, MIB + 5],
    'a range that needs only sound bytes of the block': [2 * MIB + 100, 2 * MIB + 200, 0],
  } as const;

  test.each(Object.entries(reads))(
    'bytes that differ under an unchanged stamp: nothing of their block is given to %s',
    async (_name, [start, end, before]) => {
      const { payload, fileSystem, bytes } = await openLarge();
      // Only the data of one later read is bad: no stamp tells.
      const read = fileSystem.readSync.bind(fileSystem);
      fileSystem.readSync = (file, buffer, offset, length, position) => {
        const count = read(file, buffer, offset, length, position);
        if (position === 2 * MIB) buffer[offset + 17]! ^= 1;
        return count;
      };
      const { length, error } = await readWhile(payload, 99, () => undefined, payload.blocks(start, end));
      expect(error).toMatchObject({ code: 'storage_integrity', details: { problem: 'checksum' } });
      expect(length).toBe(before);
      fileSystem.readSync = read;
      const again = await collect(payload.blocks(start, end));
      expect(again.equals(bytes.subarray(start, end))).toBe(true);
      await payload.close();
      expect(fileSystem.open.size).toBe(0);
    },
  );

  test('also where proofs are remembered', async () => {
    const { payload, file } = await openLarge({ verify: 'once' });
    const { error } = await readWhile(payload, 1, () => {
      flipByte(file, SIZE - 2);
    });
    expect(error).toBeInstanceOf(StorageIntegrityError);
    await payload.close();
  });

  test('another file under its name: nothing of that file is ever given', async () => {
    const { payload, file } = await openLarge();
    fs.writeFileSync(`${file}.new`, pattern(SIZE, 2));
    const { length, error } = await readWhile(payload, 1, () => {
      fs.renameSync(`${file}.new`, file);
    });
    // The proven file has lost its name, which is a change of its state.
    expect(error).toBeInstanceOf(StorageIntegrityError);
    expect(length).toBeLessThan(SIZE);
    await payload.close();
  });
});

describe('a reader that leaves early', () => {
  test('takes nothing from a read under way and can read again', async () => {
    const { payload, bytes, fileSystem } = await openLarge();
    for await (const block of payload.blocks()) {
      expect(Buffer.from(block).equals(bytes.subarray(0, MIB))).toBe(true);
      break;
    }
    expect(fileSystem.open.size).toBe(1);
    expect((await collect(payload.blocks())).equals(bytes)).toBe(true);
    await payload.close();
    expect(fileSystem.open.size).toBe(0);
    await payload.close();
    expect(fileSystem.count('close')).toBe(1);
  });

  test('and closes at once: the descriptor is kept until the read ahead has ended', async () => {
    const events: string[] = [];
    const executor = {
      run: async (kind: string) => {
        await new Promise((resolve) => setImmediate(resolve));
        events.push(kind);
      },
    } as unknown as Executor;
    const closing = {
      close: async () => {
        events.push('close');
      },
    } as unknown as FileSystem;
    const payload = new StoredPayload(
      { fs: closing, executor, blocks: new BlockPool() },
      {
        snapshotId: ID,
        key: 'n',
        manifestSha256: '',
        entry: { byte_length: String(SIZE) } as ArrayEntry,
      },
      { bytes: null, descriptor: 3, proof: { dev: 0n, ino: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n } },
    );
    const blocks = payload.blocks();
    await blocks.next();
    // The blocks after it are being read now and nobody asked the generator to return.
    await payload.close();
    expect(events).toEqual(['readBlock', 'readBlock', 'readBlock', 'close']);
    // What was read ahead is still given; the block after it is refused.
    await expect(blocks.next()).resolves.toMatchObject({ done: false });
    await expect(blocks.next()).resolves.toMatchObject({ done: false });
    await expect(blocks.next()).rejects.toThrow('closed');
  });

  test('a reading that is given up leaves its memory to the next one', async () => {
    const { store } = await openLarge();
    const memory = new Set<unknown>();
    for (let turn = 0; turn < 10; turn += 1) {
      const payload = await store.openArray(ID, 'n');
      let left = 3;
      for await (const block of payload.blocks()) {
        memory.add(block.buffer);
        left -= 1;
        if (left === 0) break;
      }
      await payload.close();
    }
    // The block that is given and the two that are read ahead, whoever left before.
    expect(memory.size).toBeLessThanOrEqual(3);
  });

  test('two readers of one array do not disturb each other', async () => {
    const { store, payload, bytes, fileSystem } = await openLarge();
    const other = await store.openArray(ID, 'n');
    const [first, second] = await Promise.all([
      collect(payload.blocks()),
      collect(other.blocks(1, SIZE - 1)),
    ]);
    expect(first.equals(bytes)).toBe(true);
    expect(second.equals(bytes.subarray(1, SIZE - 1))).toBe(true);
    await payload.close();
    await other.close();
    expect(fileSystem.open.size).toBe(0);
  });

  test('a description alone leaves nothing open', async () => {
    const { store, payload, fileSystem } = await openLarge();
    await payload.close();
    const described = await store.openArray(ID, 'n', { deliver: false });
    expect(described.entry.byte_length).toBe(String(SIZE));
    expect(fileSystem.open.size).toBe(0);
  });
});
