/**
 * Runs one piece of the benchmark's work against this service under node's CPU profiler and prints, for each of its
 * threads, the functions that took the most time themselves. The profiler samples the clock: on a busy machine a call
 * that wakes another thread looks expensive because that thread gets the processor; the CPU seconds do not have that.
 * Options: --only NAMES (publish-large), --rounds N (5), --top N (25), --verify MODE, --dir PATH, --keep DIR to keep the
 * .cpuprofile files for a viewer.
 * Time in the thread pool (file reads, fsync) is in no JavaScript function: it shows as (idle) of the thread that waits.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeContext } from './lib/context.mjs';
import { runRounds } from './lib/rounds.mjs';
import { selectWork } from './lib/selection.mjs';
import { DEFAULT_BASE, openWorkspace } from './lib/workspace.mjs';
import { OURS } from './servers/index.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'publish-large' },
    rounds: { type: 'string', default: '5' },
    top: { type: 'string', default: '25' },
    verify: { type: 'string' },
    keep: { type: 'string' },
    dir: { type: 'string', default: DEFAULT_BASE },
  },
});

const reason = OURS.missing();
if (reason !== null) {
  console.error(reason);
  process.exit(1);
}

const workspace = openWorkspace(options.dir);
const profileDir = options.keep === undefined ? workspace.folder('profiles') : resolve(options.keep);
const serverOptions = { profileDir, ...(options.verify === undefined ? {} : { verify: options.verify }) };

for (const { name, unit, prepare } of selectWork(options.only)) {
  const server = await OURS.start(workspace, serverOptions);
  const context = makeContext({ workspace, servers: [server], quick: false, profiling: true, serverOptions });
  const before = new Set(profiles());
  const prepared = await prepare(context);
  // The comparison that is no server of ours would only take time.
  const own = { ...prepared, participants: prepared.participants.filter(({ pid }) => pid !== null) };
  const series = await runRounds(workspace, own, Number(options.rounds), () => false);
  await prepared.finish?.();
  await server.stop();
  for (const { values, cpuSeconds, kernelSeconds } of series) {
    console.log(`\n${name}: ${values.map(Math.round).join(', ')} ${unit}`);
    console.log(
      `CPU seconds: ${cpuSeconds.map(hundredths).join(', ')}; in the kernel: ${kernelSeconds.map(hundredths).join(', ')}`,
    );
  }
  for (const file of profiles().filter((one) => !before.has(one))) summarize(file);
}
process.exit();

/** @returns {string[]} */
function profiles() {
  return readdirSync(profileDir)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => join(profileDir, file));
}

/**
 * @typedef {{ id: number, callFrame: { functionName: string, url: string, lineNumber: number } }} Node
 * @param {string} file
 */
function summarize(file) {
  /** @type {{ nodes: Node[], samples: number[], timeDeltas: number[] }} */
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, label(callFrame)]));
  /** @type {Map<string, number>} microseconds */
  const self = new Map();
  for (const [index, id] of samples.entries()) {
    const where = labels.get(id) ?? '?';
    self.set(where, (self.get(where) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...self.values()].reduce((all, one) => all + one, 0);
  const idle = self.get('(idle)') ?? 0;
  const busy = total - idle;
  console.log(`\n${basename(file)}: busy ${seconds(busy)} of ${seconds(total)}`);
  const rows = [...self].filter(([where]) => where !== '(idle)').toSorted((a, b) => b[1] - a[1]);
  for (const [where, time] of rows.slice(0, Number(options.top))) {
    console.log(`${((100 * time) / busy).toFixed(1).padStart(6)} %  ${seconds(time).padStart(9)}  ${where}`);
  }
}

/** @param {Node['callFrame']} frame */
function label({ functionName, url, lineNumber }) {
  if (url === '') return functionName === '' ? '(anonymous)' : functionName;
  const place = url.replace(/^.*\/(node_modules\/|dist\/)/, '$1');
  return `${functionName === '' ? '(anonymous)' : functionName}  ${place}:${lineNumber + 1}`;
}

/** @param {number} value */
function hundredths(value) {
  return value.toFixed(2);
}

/** @param {number} microseconds */
function seconds(microseconds) {
  return `${(microseconds / 1e6).toFixed(2)} s`;
}
