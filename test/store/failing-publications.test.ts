import { describe, expect, test } from 'vitest';

import { exhaustFaults } from '../support/exhaust-faults.ts';
import { FAULT_ERRORS } from '../support/fault-file-system.ts';
import { longPublication, publicationScenarios, rootScenario } from '../support/fault-scenarios.ts';

describe('whichever operation of it fails, however it fails: all or nothing, told truthfully, kept as evidence', () => {
  test.each([...publicationScenarios, rootScenario])('$name', { timeout: 180_000 }, async (scenario) => {
    const { faults, violations } = await exhaustFaults(scenario);
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(50);
  });

  test('early write-back of a long payload', async () => {
    const { faults, violations } = await exhaustFaults(longPublication, {
      kinds: ['EIO', 'ENOSPC'],
      method: 'syncData',
    });
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThanOrEqual(2);
  });

  test('a rename that took place and was reported as failed is uncertain, never denied', async () => {
    const [, one] = publicationScenarios;
    const report = await exhaustFaults(
      {
        ...one!,
        codes: () => ['publication_uncertain'],
        judge: async ({ store }) => {
          const { snapshots } = await store.listSnapshots();
          return snapshots.length === 1 ? [] : ['the snapshot is not there'];
        },
      },
      { kinds: FAULT_ERRORS, method: 'rename', late: true },
    );
    expect(report).toMatchObject({ faults: FAULT_ERRORS.length, violations: [] });
  });
});
