import { availableParallelism } from 'node:os';
import { PUBLISHES_BY_WRK, SERVER_CORES, wrkPublications } from '../lib/wrk-publications.mjs';
import { OURS } from '../servers/index.mjs';

const CLIENTS = 16;
const COUNTS = [1, 2, 4, 8].filter((count) => count <= availableParallelism());

/** What more cores are good for: one service of one process, of two and more, with the same clients. @type {import('./index.mjs').Work} */
export const processes = {
  name: 'processes',
  title: `publish small, ${CLIENTS} clients of wrk, by processes`,
  unit: '/s',
  rounds: { full: 5, quick: 2 },
  async prepare({ workspace, serverOptions, quick }) {
    if (!PUBLISHES_BY_WRK) {
      console.log('without processes: no wrk (apt-get install wrk)');
      return { participants: [] };
    }
    const servers = [];
    for (const count of COUNTS) {
      const root = workspace.folder(`processes-${count}`);
      const flags = ['--processes', String(count)];
      servers.push({
        count,
        server: await OURS.start(workspace, { ...serverOptions, root, flags, by: SERVER_CORES }),
      });
    }
    return {
      participants: servers.map(({ count, server }) => ({
        name: `${server.name}, ${count} ${count === 1 ? 'process' : 'processes'}`,
        pid: server.pid,
        run: () => wrkPublications(workspace, server.port, { clients: CLIENTS, seconds: quick ? 2 : 4 }),
      })),
      finish: async () => {
        await Promise.all(servers.map(({ server }) => server.stop()));
      },
    };
  },
};
