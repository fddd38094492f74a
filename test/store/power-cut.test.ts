import { describe, expect, test } from 'vitest';
import type { CrashOptions, RenameModel } from '../support/crash-states.ts';
import { record, SCENARIOS } from '../support/power-cut-histories.ts';
import { judgeRecording, type ViolationKind } from '../support/power-cut-judgement.ts';
import { randomOf } from '../support/random.ts';

const MODELS: readonly RenameModel[] = ['atomic', 'split'];
const SEED = 20251;
/** Each interleaves concurrent operations differently. */
const SEEDS = [1, 2, 3];

describe('whatever POSIX lets a power cut leave, no snapshot is false and none that was acknowledged is lost', () => {
  test.each(Object.keys(SCENARIOS))('%s', async (name) => {
    for (const seed of SEEDS) {
      for (const rename of MODELS) {
        const recording = await record(name, seed);
        const options: CrashOptions = {
          rename,
          exhaustiveUpTo: 64,
          deviations: 1,
          samples: 5,
          random: randomOf(seed),
        };
        const { states, violations } = await judgeRecording(recording, options);
        expect(violations).toEqual([]);
        expect(states).toBeGreaterThan(50);
      }
    }
  });
});

/** What goes wrong when the sync of this path does nothing; `#2` is the second sync of the same path. */
type Consequences = Readonly<Record<string, readonly ViolationKind[]>>;

const PUBLICATION: Consequences = {
  '/': ['lost'],
  '/store': ['lost'],
  // Nothing lies in these two yet: what they guard is below, in the restart.
  '/store/snapshots': [],
  '/store/staging': [],
  '/store/staging/ATTEMPT/intent.json': ['false', 'listing', 'lost'],
  '/store/staging/ATTEMPT/array-a.bin': ['false', 'listing', 'lost'],
  '/store/staging/ATTEMPT/array-b.bin': ['false', 'listing', 'lost'],
  '/store/staging/ATTEMPT/manifest.json': ['false', 'listing', 'lost'],
  '/store/staging/ATTEMPT/complete.sha256': ['false', 'listing', 'lost'],
  '/store/staging/ATTEMPT': ['false', 'listing', 'lost'],
  '/store/snapshots#2': ['lost'],
  '/store/staging#2': ['reappeared'],
};

/** Of the syncs at a start only: the process before it was killed between its rename and its syncs. */
const RESTART: Consequences = {
  '/store/snapshots#2': ['lost'],
  '/store/staging#2': ['reappeared'],
};

describe('every single sync is needed: without it, a cut breaks a promise', () => {
  test('in a publication', async () => {
    expect(await consequencesOf('one writer, two arrays')).toEqual(PUBLICATION);
  });

  test('at a start over a root whose last user was killed', async () => {
    expect(await consequencesOf('killed after the rename, read after a restart')).toMatchObject(RESTART);
  });
});

async function consequencesOf(scenario: string): Promise<Consequences> {
  const consequences: Record<string, readonly ViolationKind[]> = {};
  for (let n = 1; ; n += 1) {
    const kinds = new Set<ViolationKind>();
    let path: string | null = null;
    for (const rename of MODELS) {
      const recording = await record(scenario, SEED, n);
      path = recording.dropped;
      if (path === null) return consequences;
      const options: CrashOptions = {
        rename,
        exhaustiveUpTo: 64,
        deviations: 1,
        samples: 0,
        random: randomOf(SEED),
      };
      const { violations } = await judgeRecording(recording, options, { limit: 1000 });
      for (const { kind } of violations) kinds.add(kind);
    }
    let role = path?.replace(/[0-9a-f]{32}/u, 'ATTEMPT') ?? '';
    if (role in consequences) role += '#2';
    consequences[role] = [...kinds].sort();
  }
}
