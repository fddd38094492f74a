import { cpuSeconds, peakBytes, resetPeak } from './process-cost.mjs';

const NOTHING = { total: 0, kernel: 0 };

/**
 * @typedef {{ name: string, values: number[], amounts: number[], cpuSeconds: number[], kernelSeconds: number[],
 *   peakBytes: number[], details: Record<string, number>[] }} Series one participant's rounds, in order
 */

/**
 * Runs the participants in turn (A B C A B C …), so that what disturbs the machine disturbs all of them alike. A first round
 * does not count: whatever compiles, grows or opens something for the first time has done it then.
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {import('../workloads/index.mjs').Prepared} prepared
 * @param {number} rounds
 * @param {() => boolean} late true once the time is up: at least one round that counts is run anyway
 * @returns {Promise<Series[]>}
 */
export async function runRounds(workspace, { participants, beforeRound, pageCacheBytes = 0 }, rounds, late) {
  /** @type {Series[]} */
  const series = participants.map(({ name }) => ({
    name,
    values: [],
    amounts: [],
    cpuSeconds: [],
    kernelSeconds: [],
    peakBytes: [],
    details: [],
  }));
  for (let round = -1; round < rounds && (round <= 0 || !late()); round += 1) {
    await beforeRound?.();
    for (const [index, { pid, run }] of participants.entries()) {
      workspace.settle(pageCacheBytes);
      const before = pid === null ? NOTHING : cpuSeconds(pid);
      if (pid !== null) resetPeak(pid);
      const { amount, seconds, details } = await run();
      if (round < 0) continue;
      series[index].values.push(amount / seconds);
      series[index].amounts.push(amount);
      if (details !== undefined) series[index].details.push(details);
      if (pid === null) continue;
      const after = cpuSeconds(pid);
      series[index].cpuSeconds.push(after.total - before.total);
      series[index].kernelSeconds.push(after.kernel - before.kernel);
      series[index].peakBytes.push(peakBytes(pid));
    }
  }
  return series;
}
