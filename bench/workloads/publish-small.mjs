import { smallPuts } from '../lib/small-puts.mjs';

/**
 * Snapshots of three 4 KiB arrays here, single 4 KiB objects for the peers: their unit of work is one object, and
 * reading their figure as it stands is the stricter comparison. What three of their puts cost is a third of it.
 * @param {number} clients
 * @returns {import('./index.mjs').Work}
 */
function publishSmall(clients) {
  return {
    name: `publish-small-${clients}`,
    title: `publish small, ${clients} ${clients === 1 ? 'client' : 'clients'} (ours: 3 arrays each)`,
    unit: '/s',
    rounds: { full: 5, quick: 2 },
    async prepare({ workspace, servers, quick }) {
      const count = quick ? 200 : 500;
      return {
        participants: servers.map((server) => ({
          name: server.name,
          pid: server.pid,
          run: async () => {
            const { seconds, p50, p99 } = await smallPuts(workspace, { target: server, clients, count });
            return { amount: count, seconds, details: { p50_ms: p50, p99_ms: p99 } };
          },
        })),
      };
    },
  };
}

export const publishSmallAlone = publishSmall(1);
export const publishSmallTogether = publishSmall(16);
