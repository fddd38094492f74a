/**
 * Cuts the power at every moment of recorded publications and judges the disks that POSIX permits after each cut, with
 * the real reader. More of what test/store/power-cut.test.ts does: more interleavings, pairs of deviations, torn data.
 *
 *     node test/campaigns/power-cut-enumerated.mjs [--seed 1] [--seconds 60]
 *
 * Exits 1 on a violation, or when leaving out any one sync goes unnoticed.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { flagsOf, finish, summary } from './support.mjs';

const { seed, seconds } = flagsOf({ seed: 1, seconds: 60 });
const load = async (name) =>
  (await runnerImport(fileURLToPath(new URL(`../support/${name}`, import.meta.url)))).module;
const { record, SCENARIOS } = await load('power-cut-histories.ts');
const { judgeRecording, consequencesOfDroppedSyncs } = await load('power-cut-judgement.ts');
const { randomOf } = await load('random.ts');

/**
 * Between them they reach every place in the code that syncs. Listed are the syncs with nothing to lose in that scenario:
 * at a first start both rooms are empty; with two starts, either makes the root durable.
 */
const HARMLESS_IN = {
  'one writer, two arrays': ['/store/snapshots', '/store/staging'],
  'killed after the rename, read after a restart': [
    ...['/', '/store', '/#2', '/store#2'],
    ...['/store/snapshots', '/store/staging'],
  ],
};

let states = 0;
let cuts = 0;
let rounds = 0;
const violations = [];
const until = Date.now() + seconds * 1000;
for (let round = seed; rounds === 0 || Date.now() < until; round += 1) {
  rounds += 1;
  for (const name of Object.keys(SCENARIOS)) {
    for (const rename of ['atomic', 'split']) {
      if (rounds > 1 && Date.now() >= until) break;
      const recording = await record(name, round);
      const options = { rename, exhaustiveUpTo: 512, deviations: 2, samples: 40, random: randomOf(round) };
      const tally = await judgeRecording(recording, options);
      states += tally.states;
      cuts += recording.history.tick();
      for (const violation of tally.violations) {
        violations.push(`seed ${round}, rename ${rename}: ${JSON.stringify(violation)}`);
      }
    }
  }
}
summary(
  'power cut, enumerated',
  `${states} disks after ${cuts} cuts, ${rounds} seeds from ${seed}`,
  violations,
);

const unnoticed = [];
let left = 0;
for (const [scenario, harmless] of Object.entries(HARMLESS_IN)) {
  for (const [sync, kinds] of Object.entries(await consequencesOfDroppedSyncs(scenario, seed))) {
    if (harmless.includes(sync)) continue;
    left += 1;
    if (kinds.length === 0)
      unnoticed.push(`${scenario}: nothing noticed that the sync of ${sync} was left out`);
    else console.error(`  ${scenario}, without the sync of ${sync}: ${kinds.join(', ')}`);
  }
}
summary('power cut, one sync left out', `${left} syncs, each noticed unless counted here`, unnoticed);
finish();
