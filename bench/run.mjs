/**
 * Measures this service beside nginx (dav) and docker-registry: the same work on each, in turn, in one run, and the
 * limits of the machine itself. `npm run bench -- --help` lists the options.
 */
import { writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { parseArgs } from 'node:util';
import { makeContext } from './lib/context.mjs';
import { measureLimits } from './lib/machine-limits.mjs';
import { render } from './lib/report.mjs';
import { runRounds } from './lib/rounds.mjs';
import { select, selectWork } from './lib/selection.mjs';
import { READS_BY_WRK } from './lib/small-reads.mjs';
import { DEFAULT_BASE, openWorkspace } from './lib/workspace.mjs';
import { ADAPTERS, OURS } from './servers/index.mjs';
import { WORK } from './workloads/index.mjs';

const HELP = `npm run bench -- [options]

  --quick           fewer and shorter rounds, about a minute and a half
  --only NAMES      of ${WORK.map(({ name }) => name).join(', ')}
  --servers NAMES   of ${ADAPTERS.map(({ module }) => module).join(', ')}
  --dir PATH        a folder on the disk to measure (default node_modules/.cache/bench); about 5 GB are used and given back
  --json FILE       every single figure
`;
// Rounds are left out from here on; what must stop, stops a little later.
const SOFT_LIMIT_MS = { full: 7.5 * 60_000, quick: 60_000 };
const HARD_LIMIT_MS = 10 * 60_000;
const NEEDED_BYTES = 6e9;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    servers: { type: 'string' },
    dir: { type: 'string', default: DEFAULT_BASE },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  console.log(HELP);
} else {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
  // The folder goes with the process, and so does whatever still runs.
  process.exit();
}

async function main() {
  const started = performance.now();
  const work = selectWork(options.only);
  const chosen = select(ADAPTERS, options.servers, ({ module }) => module, '--servers');
  const present = chosen.filter(({ name, missing }) => {
    const reason = missing();
    if (reason !== null) console.log(`without ${name}: ${reason}`);
    return reason === null;
  });
  if (chosen.includes(OURS) && !present.includes(OURS))
    throw new Error('nothing to compare: build this service first');
  if (!READS_BY_WRK)
    console.log('without wrk: small reads are made by a slower client (apt-get install wrk)');

  const workspace = openWorkspace(options.dir);
  if (workspace.freeBytes() < NEEDED_BYTES)
    throw new Error(`--dir: less than ${NEEDED_BYTES / 1e9} GB are free there`);
  setTimeout(() => {
    console.error('ten minutes are over: the run is given up');
    process.exit(1);
  }, HARD_LIMIT_MS).unref();
  const late = () => performance.now() - started > (options.quick ? SOFT_LIMIT_MS.quick : SOFT_LIMIT_MS.full);

  const [{ model = 'unknown processor' } = {}] = cpus();
  console.log(`${cpus().length} x ${model}, Linux ${release()}, Node ${process.version}\n`);

  const servers = [];
  for (const { start } of present) servers.push(await start(workspace));
  const context = makeContext({
    workspace,
    servers,
    quick: options.quick,
    profiling: false,
    serverOptions: {},
  });

  /** @type {import('./lib/report.mjs').Run} */
  const run = { limits: [await measureLimits(workspace)], measured: [] };
  for (const { name, title, unit, rounds, prepare } of work) {
    progress(`${name} …`);
    const prepared = await prepare(context);
    const count = options.quick ? rounds.quick : rounds.full;
    const series = await runRounds(workspace, prepared, count, late);
    await prepared.finish?.();
    run.measured.push({ name, title, unit, series });
    if (!options.quick && !late()) run.limits.push(await measureLimits(workspace));
  }
  run.limits.push(await measureLimits(workspace));
  progress('');
  await Promise.all(servers.map((server) => server.stop()));

  console.log(render(run));
  if (late()) console.log('Slow machine: some rounds were left out to stay within the time.');
  console.log(`Took ${Math.round((performance.now() - started) / 1000)} s.`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, null, 2)}\n`);
}

/** @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (text !== '') process.stderr.write(`${text}\n`);
}
