/** What the machine itself can do, measured in the same run: no server can be faster than this. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const LARGE_BYTES = 640 * 1024 * 1024;

/**
 * @typedef {'hash' | 'write' | 'sync'} Task
 * @type {readonly { name: string, unit: string, task: Task, threads: number }[]}
 */
export const LIMITS = [
  { name: 'SHA-256, one core', unit: 'MB/s', task: 'hash', threads: 1 },
  { name: 'SHA-256, two cores', unit: 'MB/s', task: 'hash', threads: 2 },
  { name: '512 MiB written, one fsync', unit: 'MB/s', task: 'write', threads: 1 },
  { name: '4 KiB write + fsync, 1 writer', unit: '/s', task: 'sync', threads: 1 },
  { name: '4 KiB write + fsync, 16 writers', unit: '/s', task: 'sync', threads: 16 },
];

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @returns {Promise<number[]>} one figure per entry of LIMITS
 */
export async function measureLimits(workspace) {
  const figures = [];
  for (const { task, threads } of LIMITS) {
    workspace.settle(task === 'write' ? LARGE_BYTES : 0);
    const folder = workspace.folder('limits');
    figures.push(await together(task, threads, folder));
    rmSync(folder, { recursive: true });
  }
  return figures;
}

/**
 * @param {Task} task
 * @param {number} threads
 * @param {string} folder
 */
async function together(task, threads, folder) {
  const workers = Array.from(
    { length: threads },
    (_, index) =>
      new Worker(new URL('machine-worker.mjs', import.meta.url), {
        workerData: { task, path: join(folder, `${task}-${index}`) },
      }),
  );
  // All are up before any starts, so that none has the machine to itself.
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const figures = workers.map(async (worker) => {
    const [rate] = await once(worker, 'message');
    return Number(rate);
  });
  for (const worker of workers) worker.postMessage('go');
  return (await Promise.all(figures)).reduce((total, rate) => total + rate, 0);
}
