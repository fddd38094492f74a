/**
 * Everything a run leaves behind on the machine: one directory and the child processes it started itself. Both are
 * gone when the process ends, whichever way it ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';

const STOP_GRACE_MS = 10_000;

/**
 * @typedef {import('node:child_process').ChildProcess} Child
 * @typedef {{ dir: string, spawn: typeof spawn, stop: (child: Child) => Promise<void>, folder: (name: string) => string,
 *   settle: () => void, freeBytes: () => number }} Workspace
 */

/**
 * Makes a fresh directory below `base` and sees to it that nothing outlives this process.
 * @param {string} base on the disk to be measured
 * @returns {Workspace}
 */
export function openWorkspace(base) {
  const dir = resolve(base, `run-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  /** @type {Set<Child>} */
  const children = new Set();

  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    // A server that was just killed may still be finishing a write: that is what the retries are for.
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }

  return {
    dir,
    spawn: /** @type {typeof spawn} */ (
      (command, args, options) => {
        const child = spawn(command, args, options);
        children.add(child);
        const forget = () => children.delete(child);
        child.once('exit', forget).once('error', forget);
        return child;
      }
    ),
    stop: (child) => stop(child),
    folder: (name) => {
      const path = join(dir, name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    // What one server left dirty in the page cache must not be written back during the turn of the next.
    settle: () => void spawnSync('sync', ['-f', dir]),
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(dir);
      return bavail * bsize;
    },
  };
}

/** @param {Child} child */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await gone;
  clearTimeout(timer);
}
