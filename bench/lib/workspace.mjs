/**
 * Everything a run leaves behind on the machine: one directory and the child processes it started itself. Both are
 * gone when the process ends, whichever way it ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, rmdirSync, statfsSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { processTree } from './process-cost.mjs';

const STOP_GRACE_MS = 10_000;
const SCRATCH_BLOCK = 256 * 1024;

/** On the disk of the project, where linters, watchers and git do not look. */
export const DEFAULT_BASE = fileURLToPath(new URL('../../node_modules/.cache/bench', import.meta.url));

/**
 * @typedef {import('node:child_process').ChildProcess} Child
 * @typedef {(command: string, args: string[], options: import('node:child_process').SpawnOptions) => Child} Spawn
 * @typedef {{ dir: string, spawn: Spawn, stop: (child: Child) => Promise<void>, folder: (name: string) => string,
 *   drop: (path: string) => void, settle: (pageCacheBytes: number) => void, freeBytes: () => number }} Workspace
 */

/**
 * Makes a fresh directory below `base` and sees to it that nothing outlives this process.
 * @param {string} base on the disk to be measured
 * @returns {Workspace}
 */
export function openWorkspace(base) {
  const dir = resolve(base, `run-${process.pid}`);
  const madeBase = mkdirSync(dir, { recursive: true }) !== dir;
  spreadOut(dir);
  /** @type {Set<Child>} */
  const children = new Set();

  process.on('exit', () => {
    for (const child of children) killTree(child);
    // A server that was just killed may still be finishing a write: that is what the retries are for.
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    if (madeBase) dropIfEmpty(base);
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }

  return {
    dir,
    spawn: (command, args, options) => {
      const child = spawn(command, args, options);
      children.add(child);
      const forget = () => children.delete(child);
      child.once('exit', forget).once('error', forget);
      return child;
    },
    stop: (child) => stop(child),
    folder: (name) => {
      const path = join(dir, name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    drop: (path) => rmSync(path, { recursive: true, force: true }),
    // What one server left dirty in the page cache must not be written back during the turn of the next.
    settle: (pageCacheBytes) => {
      spawnSync('sync', ['-f', dir]);
      touchMemory(join(dir, 'scratch'), pageCacheBytes);
    },
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(dir);
      return bavail * bsize;
    },
  };
}

/** @param {import('node:stream').Readable | null} stream of a child that was started with a pipe */
export async function collect(stream) {
  return stream === null ? '' : text(stream);
}

/**
 * On a virtual machine that gives free memory back to its host, the first to fill it again pays for that, with more than
 * a write costs, and the next finds it ready. A file written and removed at once lets every server find it ready.
 * @param {string} path
 * @param {number} bytes
 */
function touchMemory(path, bytes) {
  if (bytes === 0) return;
  const block = Buffer.alloc(SCRATCH_BLOCK);
  const file = openSync(path, 'w');
  for (let written = 0; written < bytes; written += SCRATCH_BLOCK) writeSync(file, block);
  closeSync(file);
  rmSync(path);
}

/** @param {string} path */
function dropIfEmpty(path) {
  try {
    rmdirSync(path);
  } catch {
    // Another run has something there.
  }
}

/** nginx and the shell have children of their own, which a killed parent leaves behind. @param {Child} child */
function killTree(child) {
  if (child.pid === undefined) return;
  for (const pid of processTree(child.pid)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went by itself in the meantime.
    }
  }
}

/** @param {Child} child */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const timer = setTimeout(() => killTree(child), STOP_GRACE_MS);
  await gone;
  clearTimeout(timer);
}

/**
 * On ext4 gives each folder in `dir` a block group of its own. Without it all servers make their files in one group, and
 * who makes a file there pays for those that another server deleted a minute before: without a journal ext4 passes over
 * them one by one, which was seen to take two thirds of all time. Does nothing on other file systems.
 * @param {string} dir
 */
function spreadOut(dir) {
  spawnSync('chattr', ['+T', dir], { stdio: 'ignore' });
}
