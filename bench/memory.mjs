/**
 * Publishes and downloads one large array through the real service and watches its resident memory, which must not
 * grow with the array. Ends with 1 when the peak is above the limit. Options: --mebibytes N (1024), --dir PATH.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { curl } from './lib/curl.mjs';
import { makeSource } from './lib/large-source.mjs';
import { peakBytes, residentBytes } from './lib/process-cost.mjs';
import { DEFAULT_BASE, openWorkspace } from './lib/workspace.mjs';
import { OURS } from './servers/index.mjs';
import { MEMORY_TARGET } from './targets.mjs';

const INTERVAL_MS = 250;

const { values: options } = parseArgs({
  options: {
    mebibytes: { type: 'string', default: '1024' },
    dir: { type: 'string', default: DEFAULT_BASE },
  },
});

const reason = OURS.missing();
if (reason !== null) {
  console.error(reason);
  process.exit(1);
}

const workspace = openWorkspace(options.dir);
const source = await makeSource(workspace, Number(options.mebibytes));
const server = await OURS.start(workspace);
const id = randomBytes(16).toString('hex');
const url = `http://127.0.0.1:${server.port}${OURS.pathOf(source, id)}`;

console.log(`started: ${megabytes(residentBytes(server.pid))}`);
await watched('publish', () => OURS.upload(workspace, server, source, id));
await watched('download', () => curl(workspace, [url], 200));
const peak = peakBytes(server.pid);
const kept = peak <= MEMORY_TARGET.least;
console.log(
  `peak: ${megabytes(peak)}, limit ${megabytes(MEMORY_TARGET.least)}: ${kept ? 'kept' : 'EXCEEDED'}`,
);
process.exit(kept ? 0 : 1);

/**
 * @param {string} what
 * @param {() => Promise<number>} action
 */
async function watched(what, action) {
  const started = performance.now();
  const timer = setInterval(() => {
    const elapsed = ((performance.now() - started) / 1000).toFixed(2);
    console.log(`  ${what} ${elapsed} s: ${megabytes(residentBytes(server.pid))}`);
  }, INTERVAL_MS);
  const seconds = await action().finally(() => clearInterval(timer));
  const rate = Math.round(source.bytes / 1e6 / seconds);
  console.log(`${what}: ${options.mebibytes} MiB in ${seconds.toFixed(2)} s, ${rate} MB/s`);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}
