/** A disk whose syncs take their time: a library that is loaded before the system's own. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../test/support/slow-syncs.c', import.meta.url));

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {number} ms that each fsync and fdatasync takes longer
 * @returns {Record<string, string> | null} the environment of a server on such a disk; null where there is no C compiler
 */
export function slowDisk(workspace, ms) {
  const library = join(workspace.dir, 'slow-syncs.so');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0 ? { LD_PRELOAD: library, SLOW_SYNC_MS: String(ms) } : null;
}
