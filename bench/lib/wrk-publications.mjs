/** Small publications by a client that costs little: wrk, on a core of its own where there are more than two. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { smallDocument } from '../servers/pipewhy.mjs';
import { findProgram } from '../servers/programs.mjs';
import { collect } from './workspace.mjs';

const SCRIPT = fileURLToPath(new URL('wrk-publish.lua', import.meta.url));
const CORES = availableParallelism();

export const PUBLISHES_BY_WRK = findProgram('wrk') !== null;
/** Whether client and server share no core. */
export const IS_APART = CORES > 2 && findProgram('taskset') !== null;

/** What a server is started by, to leave the client its core. */
export const SERVER_CORES = IS_APART ? ['taskset', '-c', `0-${CORES - 2}`] : [];

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {number} port
 * @param {{ clients: number, seconds: number }} load
 * @returns {Promise<{ amount: number, seconds: number }>} publications answered with 201
 */
export async function wrkPublications(workspace, port, { clients, seconds }) {
  const pinned = IS_APART ? ['taskset', '-c', String(CORES - 1)] : [];
  const url = `http://127.0.0.1:${port}`;
  const wrk = ['wrk', '-t1', `-c${clients}`, `-d${seconds}s`, '--timeout', '30s', '--script', SCRIPT, url];
  const [program, ...args] = [...pinned, ...wrk];
  const child = workspace.spawn(/** @type {string} */ (program), args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      BENCH_DOCUMENT: JSON.stringify(smallDocument('SNAPSHOT_ID')),
      BENCH_IDS: randomBytes(8).toString('hex'),
    },
  });
  const out = await collect(child.stdout);
  const [, amount, time] = /(\d+) requests in ([\d.]+)s/.exec(out) ?? [];
  if (amount === undefined || time === undefined || /Non-2xx|Socket errors/.test(out))
    throw new Error(`publications failed:\n${out}`);
  return { amount: Number(amount), seconds: Number(time) };
}
