/** The library of slow-syncs.c: a disk that holds syncs for as long as a test wants, and says how many it holds. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const SOURCE = fileURLToPath(new URL('slow-syncs.c', import.meta.url));

export const HAS_COMPILER = spawnSync('cc', ['--version']).status === 0;

export interface SlowSyncs {
  /** Environment of a command on such a disk. */
  readonly env: Readonly<Record<string, string>>;
  /** Syncs that are held now, and the most that ever were. */
  readonly held: () => { readonly now: number; readonly most: number };
  /** From now on syncs are held, until they are released; a start needs some. */
  readonly hold: () => void;
  readonly release: () => void;
}

/** @param only a word in the path of files whose syncs are meant; without it all are */
export function slowSyncs(only?: string): SlowSyncs {
  const dir = fs.mkdtempSync(join(tmpdir(), 'slow-syncs-'));
  const [library, hold, count] = ['slow-syncs.so', 'hold', 'count'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl']);
  if (compiled.status !== 0) throw new Error(compiled.stderr.toString());
  fs.writeFileSync(count, Buffer.alloc(8));
  const holdNow = (): void => {
    fs.writeFileSync(hold, '');
  };
  const release = (): void => {
    fs.rmSync(hold, { force: true });
  };
  onTestFinished(() => {
    release();
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return {
    env: {
      LD_PRELOAD: library,
      SLOW_SYNC_HOLD: hold,
      SLOW_SYNC_COUNT: count,
      ...(only === undefined ? {} : { SLOW_SYNC_ONLY: only }),
    },
    held: () => {
      const [now, most] = new Int32Array(new Uint8Array(fs.readFileSync(count)).buffer);
      return { now: now!, most: most! };
    },
    hold: holdNow,
    release,
  };
}
