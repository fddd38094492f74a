/** What only real threads show: the built service's own proving threads, given files by hand. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { workerPool } from '../../dist/src/store/worker-pool.js';
import { BLOCK_BYTES } from '../../src/store/blocks.ts';
import type { Executor } from '../../src/store/engine.ts';
import { declarations, pattern, temporaryRoot } from '../support/stores.ts';

let pool: Executor;
const open: number[] = [];

beforeAll(() => {
  pool = workerPool(declarations, { threads: 2, manifestBytes: 1024 * 1024 });
});
afterAll(() => pool.close());
afterEach(() => {
  for (const file of open.splice(0)) fs.closeSync(file);
});

function created(path: string): number {
  const file = fs.openSync(path, 'wx');
  open.push(file);
  return file;
}

/** A block of shared memory, as uploads use them. */
function shared(bytes: Uint8Array): Buffer {
  const block = Buffer.from(new SharedArrayBuffer(bytes.length));
  block.set(bytes);
  return block;
}

describe('a sink', () => {
  test('stores blocks in the order in which they were given, without being waited for', async () => {
    const path = join(temporaryRoot(), 'array-a.bin');
    const bytes = pattern(3 * BLOCK_BYTES + 12_345);
    const sink = pool.openSink(created(path), path, 'array-a.bin');
    const stored = [];
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      stored.push(sink.store(shared(bytes.subarray(at, at + BLOCK_BYTES))));
    }
    await Promise.all(stored);
    const { sha256, stamp } = await sink.finish();
    expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(stamp.size).toBe(BigInt(bytes.length));
    expect(fs.readFileSync(path).equals(Buffer.from(bytes))).toBe(true);
  });

  test.skipIf(process.platform !== 'linux')(
    'tells the platform’s own error, and writes nothing after it',
    async () => {
      const path = join(temporaryRoot(), 'array-a.bin');
      const full = fs.openSync('/dev/full', 'w');
      open.push(full);
      const sink = pool.openSink(full, path, 'array-a.bin');
      const stores = [sink.store(shared(pattern(10))), sink.store(shared(pattern(20)))];
      const [first, second] = await Promise.allSettled(stores);
      expect(first).toMatchObject({ status: 'rejected', reason: { code: 'ENOSPC', syscall: 'write' } });
      expect(second).toMatchObject({ status: 'rejected', reason: { message: /^Nothing more is written/u } });
      await sink.abandon();
      await expect(sink.store(shared(pattern(1)))).rejects.toThrow('was ended before');
    },
  );

  test('notices at once when the file under that name does not hold what was written', async () => {
    const path = join(temporaryRoot(), 'array-a.bin');
    const file = created(path);
    fs.renameSync(path, `${path}.moved`);
    fs.writeFileSync(path, pattern(4096, 9));
    const sink = pool.openSink(file, path, 'array-a.bin');
    await expect(sink.store(shared(pattern(4096, 1)))).rejects.toMatchObject({
      code: 'storage_integrity',
      details: { problem: 'checksum', location: 'array-a.bin' },
    });
    await sink.abandon();
  });

  test('that was abandoned leaves no descriptor open', async () => {
    const root = temporaryRoot();
    const path = join(root, 'array-a.bin');
    const sink = pool.openSink(created(path), path, 'array-a.bin');
    await sink.store(shared(pattern(100)));
    await sink.abandon();
    fs.closeSync(open.pop() ?? -1);
    if (process.platform !== 'linux') return;
    const left = fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        return [fs.readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        return [];
      }
    });
    expect(left.filter((target) => target.startsWith(root))).toEqual([]);
  });
});
