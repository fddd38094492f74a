/** What only real threads show: the built service's own proving threads, given files by hand. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

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

/** Threads of the built service that a test can end. */
function mortalThreads(threads: number) {
  const workers: Worker[] = [];
  const lost: Error[] = [];
  const mortal = workerPool(declarations, {
    threads,
    manifestBytes: 0,
    onLost: (error) => lost.push(error),
    start: (workerData) => {
      const file = new URL('../../dist/src/store/worker.js', import.meta.url);
      const worker = new Worker(file, { workerData, trackUnmanagedFds: false });
      workers.push(worker);
      return worker;
    },
  });
  return { mortal, workers, lost };
}

function openFilesUnder(root: string): string[] {
  return fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(root) ? [target] : [];
    } catch {
      return [];
    }
  });
}

describe('a thread that dies', () => {
  test('is told, counted and replaced; what it worked on is unavailable for the moment', async () => {
    const { mortal, workers, lost } = mortalThreads(1);
    const root = temporaryRoot();
    const staging = join(root, 'staging');
    fs.mkdirSync(staging);
    await mortal.run('measure', { staging, attempts: [] });
    const running = mortal.run('draft', { bytes: shared(pattern(8 * 1024 * 1024)), maxValues: 1 });
    await workers[0]!.terminate();
    await expect(running).rejects.toMatchObject({ code: 'unavailable', details: { retry_after_seconds: 1 } });
    await vi.waitUntil(() => mortal.threads.running === 1 && workers.length === 2);
    expect(mortal.threads).toEqual({ running: 1, wanted: 1, lost: 1 });
    expect(lost).toHaveLength(1);
    await expect(mortal.run('measure', { staging, attempts: [] })).resolves.toBeDefined();
    await mortal.close();
  });

  test.skipIf(process.platform !== 'linux')(
    'gives back the descriptors of payloads it had open',
    async () => {
      const { mortal, workers } = mortalThreads(1);
      const root = temporaryRoot();
      const path = join(root, 'array-a.bin');
      const sink = mortal.openSink(created(path), path, 'array-a.bin');
      await sink.store(shared(pattern(100)));
      expect(openFilesUnder(root)).toHaveLength(2);
      await workers[0]!.terminate();
      await vi.waitUntil(() => mortal.threads.lost === 1);
      // The other one is the writer's own.
      expect(openFilesUnder(root)).toHaveLength(1);
      await expect(sink.finish()).rejects.toMatchObject({ code: 'unavailable' });
      await mortal.close();
    },
  );

  test('whose successors die at once too is not replaced faster than the bounded rate, and reads say so', async () => {
    let starts = 0;
    const mortal = workerPool(declarations, {
      threads: 2,
      manifestBytes: 0,
      start: () => {
        starts += 1;
        return new Worker('process.exit(1)', { eval: true });
      },
    });
    await vi.waitUntil(() => mortal.threads.running === 0);
    await expect(mortal.run('measure', { staging: '/', attempts: [] })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(mortal.threads).toMatchObject({ running: 0, wanted: 2 });
    // Two at the beginning, one replacement at once, the others a second apart.
    expect(starts).toBeLessThanOrEqual(4);
    await mortal.close();
  });
});

test('a task that nobody waits for any more ends at its next piece, with the reason that was given', async () => {
  const root = temporaryRoot();
  const path = join(root, 'array-a.bin');
  const size = 256 * 1024 * 1024;
  fs.ftruncateSync(created(path), size);
  const claim = { file: 'array-a.bin', byte_length: String(size), sha256: '0'.repeat(64) };
  const input = { directory: root, snapshotId: '1'.repeat(32), claims: [claim], withMacs: false };
  const controller = new AbortController();
  const reason = new Error('nobody waits');
  const proof = pool.run('prove', input, controller.signal);
  controller.abort(reason);
  // Had it gone on to the end, the digest would have been found wrong.
  await expect(proof).rejects.toBe(reason);
});
