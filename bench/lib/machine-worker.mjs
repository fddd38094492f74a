/** One thread of a machine limit: says when it is ready, works when told to, answers with its own rate. */
import { createHash, randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const MIB = 1024 * 1024;
const LARGE_MIB = 512;
const HASH_MS = 500;
const SYNC_MS = 700;

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const block = randomFillSync(Buffer.alloc(MIB));

const TASKS = {
  hash: () => {
    const hash = createHash('sha256');
    let hashed = 0;
    const seconds = repeatFor(HASH_MS, () => {
      hash.update(block);
      hashed += MIB;
    });
    return hashed / 1e6 / seconds;
  },
  write: () => {
    const started = performance.now();
    const file = openSync(workerData.path, 'wx');
    for (let index = 0; index < LARGE_MIB; index += 1) writeSync(file, block);
    fsyncSync(file);
    closeSync(file);
    return (LARGE_MIB * MIB) / 1e3 / (performance.now() - started);
  },
  sync: () => {
    let files = 0;
    const seconds = repeatFor(SYNC_MS, () => {
      files += 1;
      const file = openSync(`${workerData.path}-${files}`, 'wx');
      writeSync(file, block, 0, 4096);
      fsyncSync(file);
      closeSync(file);
    });
    return files / seconds;
  },
};

port.once('message', () => {
  port.postMessage(TASKS[/** @type {keyof typeof TASKS} */ (workerData.task)]());
});
port.postMessage('ready');

/**
 * @param {number} milliseconds
 * @param {() => void} step
 * @returns {number} seconds it really took
 */
function repeatFor(milliseconds, step) {
  const started = performance.now();
  while (performance.now() - started < milliseconds) step();
  return (performance.now() - started) / 1000;
}
