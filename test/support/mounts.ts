/** Small file systems of the machine's own, where this process may mount any. */
import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

import { makeRoot, removeRoot } from './stores.ts';

function mounts(...flags: string[]): boolean {
  return spawnSync('mount', flags, { stdio: 'ignore' }).status === 0;
}

/** Whether tmpfs can be mounted here at all; needs Linux and its administrator. */
export function canMount(): boolean {
  const directory = makeRoot();
  try {
    if (!mounts('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory)) return false;
    execFileSync('umount', [directory]);
    return true;
  } finally {
    removeRoot(directory);
  }
}

/** Mounts a tmpfs with these options over `directory` until the test ends. */
export function mountTmpfs(directory: string, options: string): void {
  if (!mounts('-t', 'tmpfs', '-o', options, 'tmpfs', directory))
    throw new Error('The tmpfs cannot be mounted.');
  unmountAfterTest(directory);
}

/** Shows `source` at `target` as well, until the test ends. */
export function mountBind(source: string, target: string): void {
  if (!mounts('--bind', source, target)) throw new Error('The bind mount cannot be made.');
  unmountAfterTest(target);
}

export function remount(directory: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, directory]);
}

function unmountAfterTest(directory: string): void {
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
}
