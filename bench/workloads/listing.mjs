/**
 * A listing proves everything it lists. No peer does anything like it, so that it stands beside `sha256sum` on two
 * cores over the same files.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { makeSource } from '../lib/large-source.mjs';
import { smallPuts } from '../lib/small-puts.mjs';
import { OURS } from '../servers/index.mjs';

const LARGE_MEBIBYTES = 32;
const SHA256SUM = 'sha256sum, 2 cores';

/** @type {import('./index.mjs').Work} */
export const listSmall = {
  name: 'list-1000',
  title: 'list 1,000 snapshots of three 4 KiB arrays',
  unit: 'snapshots/s',
  rounds: { full: 5, quick: 2 },
  prepare: (context) =>
    prepareListing(context, {
      folder: 'list-small',
      snapshots: 1000,
      filesPerCall: 250,
      amount: 1000,
      fill: async (server) =>
        void (await smallPuts(context.workspace, { target: server, clients: 16, count: 1000 })),
    }),
};

/** @type {import('./index.mjs').Work} */
export const listLarge = {
  name: 'list-large',
  title: 'list 2 GiB in 64 snapshots (--quick: 0.5 GiB in 16)',
  unit: 'MB/s',
  rounds: { full: 5, quick: 2 },
  prepare: async (context) => {
    const source = await makeSource(context.workspace, LARGE_MEBIBYTES);
    const snapshots = context.quick ? 16 : 64;
    return prepareListing(context, {
      folder: 'list-large',
      snapshots,
      filesPerCall: 8,
      amount: (snapshots * source.bytes) / 1e6,
      fill: async (server) => {
        for (let index = 0; index < snapshots; index += 1) {
          await OURS.upload(context.workspace, server, source, randomBytes(16).toString('hex'));
        }
      },
    });
  },
};

/**
 * @param {import('./index.mjs').Context} context
 * @param {{ folder: string, snapshots: number, filesPerCall: number, amount: number,
 *   fill: (server: import('../servers/index.mjs').Server) => Promise<void> }} listing
 * @returns {Promise<import('./index.mjs').Prepared>}
 */
async function prepareListing(context, { folder, snapshots, filesPerCall, amount, fill }) {
  const { workspace, servers, serverOptions } = context;
  if (servers.every(({ module }) => module !== OURS.module)) return { participants: [] };
  const root = workspace.folder(folder);
  const writer = await OURS.start(workspace, { root });
  await fill(writer);
  await writer.stop();
  const server = await OURS.start(workspace, { ...serverOptions, root });
  const timed = async (/** @type {() => Promise<void>} */ action) => {
    const started = performance.now();
    await action();
    return { amount, seconds: (performance.now() - started) / 1000 };
  };
  return {
    participants: [
      { name: server.name, pid: server.pid, run: () => timed(() => list(server.port, snapshots)) },
      { name: SHA256SUM, pid: null, run: () => timed(() => sha256sum(workspace, root, filesPerCall)) },
    ],
    finish: async () => {
      await server.stop();
      workspace.drop(root);
    },
  };
}

/** @param {number} port @param {number} expected */
async function list(port, expected) {
  const answer = await fetch(`http://127.0.0.1:${port}/snapshots`);
  const body = /** @type {{ snapshots?: unknown[] }} */ (await answer.json());
  if (answer.status !== 200 || body.snapshots?.length !== expected) {
    throw new Error(
      `expected a listing of ${expected}, got ${answer.status} ${JSON.stringify(body).slice(0, 500)}`,
    );
  }
}

/** @param {import('../lib/workspace.mjs').Workspace} workspace @param {string} root @param {number} filesPerCall */
async function sha256sum(workspace, root, filesPerCall) {
  const command = `find "$0" -type f -print0 | xargs -0 -P 2 -n ${filesPerCall} sha256sum`;
  const child = workspace.spawn('sh', ['-c', command, join(root, 'snapshots')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`sha256sum ended with ${code}`);
}
