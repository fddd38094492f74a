import { describe, expect, test } from 'vitest';

import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { exhaustFaults } from '../support/exhaust-faults.ts';
import { readingScenarios } from '../support/fault-scenarios.ts';
import { storeAt, temporaryRoot } from '../support/stores.ts';

describe('whichever operation of it fails, however it fails: the right bytes or a refusal, and nothing is written', () => {
  test.each(readingScenarios)('$name', { timeout: 180_000 }, async (scenario) => {
    const { faults, violations } = await exhaustFaults(scenario);
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(50);
  });
});

test.each(['EMFILE', 'ENFILE', 'ENOMEM'])(
  'a store that can open no file (%s) is not ready, and is again as soon as it can',
  async (code) => {
    let exhausted = false;
    const fileSystem = {
      ...nodeFileSystem,
      openForReading: (path: string) => {
        if (exhausted) throw Object.assign(new Error(`${code}: open`), { code, syscall: 'open' });
        return nodeFileSystem.openForReading(path);
      },
    };
    const store = storeAt(temporaryRoot(), { fileSystem });
    await store.prepare();
    expect(await store.readProblem()).toBeNull();
    exhausted = true;
    expect(await store.readProblem()).toContain(`out of descriptors or memory for the moment (${code})`);
    expect(await store.writeProblem()).toContain(code);
    exhausted = false;
    expect(await store.writeProblem()).toBeNull();
  },
);
