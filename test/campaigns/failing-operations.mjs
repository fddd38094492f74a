/**
 * Fails every operation of publications, reads, listings and inspections once, in every way, and counts the broken
 * promises: the table of test/store/failing-*.test.ts, with every kind of failure for a long payload too.
 *
 *     node test/campaigns/failing-operations.mjs
 *
 * Exits 1 on a violation.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { finish, summary } from './support.mjs';

const path = fileURLToPath(new URL('./fault-campaign.ts', import.meta.url));
const { failingOperations } = (await runnerImport(path)).module;

let total = 0;
const violations = [];
for await (const report of failingOperations()) {
  console.error(`  ${report.scenario}: ${report.faults} faults`);
  total += report.faults;
  violations.push(...report.violations.map((violation) => `${report.scenario}: ${violation}`));
}
summary('every operation fails once', `${total} faults`, violations);
finish();
