import { describe, expect, test } from 'vitest';

import { exhaustFaults } from '../support/exhaust-faults.ts';
import { readingScenarios } from '../support/fault-scenarios.ts';

describe('whichever operation of it fails, however it fails: the right bytes or a refusal, and nothing is written', () => {
  test.each(readingScenarios)('$name', { timeout: 180_000 }, async (scenario) => {
    const { faults, violations } = await exhaustFaults(scenario);
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(50);
  });
});
