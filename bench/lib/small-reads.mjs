/** Small reads over many connections: by wrk where it is installed, otherwise by a loop over undici. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../servers/programs.mjs';
import { collect } from './workspace.mjs';

const SCRIPT = fileURLToPath(new URL('wrk-paths.lua', import.meta.url));
const LOOP = fileURLToPath(new URL('undici-reads.mjs', import.meta.url));

export const READS_BY_WRK = findProgram('wrk') !== null;

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {number} port
 * @param {string[]} paths asked for in turn
 * @param {{ connections: number, seconds: number }} load
 * @returns {Promise<number>} answers a second; anything but success is an error
 */
export async function smallReads(workspace, port, paths, { connections, seconds }) {
  const list = join(workspace.dir, `paths-${port}`);
  writeFileSync(list, paths.join('\n'));
  const url = `http://127.0.0.1:${port}`;
  const [program, args] = READS_BY_WRK
    ? ['wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--script', SCRIPT, url]]
    : [process.execPath, [LOOP, url, String(connections), String(seconds)]];
  const child = workspace.spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_PATHS: list },
  });
  const out = await collect(child.stdout);
  const rate = /Requests\/sec: +([\d.]+)/.exec(out)?.[1];
  if (rate === undefined || /Non-2xx|Socket errors/.test(out)) throw new Error(`small reads failed:\n${out}`);
  return Number(rate);
}
