import { slowDisk } from '../lib/slow-disk.mjs';
import { smallPuts } from '../lib/small-puts.mjs';
import { OURS } from '../servers/index.mjs';

const SYNC_MS = 5;
/** Publications of one round, by clients: about as long for both. */
const COUNTS = /** @type {const} */ ([
  [1, 60],
  [16, 480],
]);

/** What waits for the disk must not wait for others that do: only this service, with one client and sixteen. @type {import('./index.mjs').Work} */
export const slowDiskWork = {
  name: 'slow-disk',
  title: `publish small, every sync ${SYNC_MS} ms slower`,
  unit: '/s',
  rounds: { full: 5, quick: 2 },
  async prepare({ workspace, serverOptions }) {
    const env = slowDisk(workspace, SYNC_MS);
    if (env === null) {
      console.log('without a slow disk: no C compiler (apt-get install gcc libc6-dev)');
      return { participants: [] };
    }
    const server = await OURS.start(workspace, {
      ...serverOptions,
      root: workspace.folder('slow-disk'),
      env,
    });
    return {
      participants: COUNTS.map(([clients, count]) => ({
        name: `${server.name}, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
        pid: server.pid,
        run: async () => {
          const { seconds, p50, p99 } = await smallPuts(workspace, { target: server, clients, count });
          return { amount: count, seconds, details: { p50_ms: p50, p99_ms: p99 } };
        },
      })),
      finish: () => server.stop(),
    };
  },
};
