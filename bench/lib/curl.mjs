/** Large transfers are made by curl: it is what people use, it is cheap, and it is the same for every server. */
import { collect } from './workspace.mjs';

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {string[]} args what to send where; the answer's body is discarded
 * @param {number} expected status
 * @returns {Promise<number>} seconds from the first byte of the request to the last of the answer
 */
export async function curl(workspace, args, expected) {
  const child = workspace.spawn(
    'curl',
    [
      '--silent',
      '--show-error',
      '--output',
      '/dev/null',
      '--write-out',
      '%{http_code} %{time_total}',
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const failed = new Promise((_, fail) => child.once('error', fail));
  const [out, err] = await Promise.race([
    Promise.all([collect(child.stdout), collect(child.stderr)]),
    failed,
  ]);
  const [status, seconds] = out.split(' ').map(Number);
  if (status !== expected) throw new Error(`curl: expected status ${expected}, got ${out} ${err}`.trim());
  // A body that ends early leaves the status as it was; curl says so on its standard error.
  if (err !== '') throw new Error(`curl: ${err.trim()}`);
  return seconds;
}
