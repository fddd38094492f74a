/** All scenarios with all kinds of failures, one report after the other. */
import { exhaustFaults, type FaultReport } from '../support/exhaust-faults.ts';
import type { Method } from '../support/fault-file-system.ts';
import {
  longPublication,
  publicationScenarios,
  readingScenarios,
  rootScenario,
} from '../support/fault-scenarios.ts';

/** Of the long payload only these: with its many writes every kind of every operation would take an hour. */
const LONG_METHODS: readonly Method[] = ['syncData', 'sync', 'rename'];

export async function* failingOperations(): AsyncGenerator<FaultReport> {
  for (const scenario of [...publicationScenarios, ...readingScenarios, rootScenario]) {
    yield await exhaustFaults(scenario);
  }
  for (const method of LONG_METHODS) {
    const report = await exhaustFaults(longPublication, { method });
    yield { ...report, scenario: `${report.scenario}, ${method}` };
  }
}
