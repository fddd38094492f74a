import { randomBytes } from 'node:crypto';
import { adapterOf } from '../servers/index.mjs';

/** One array of 512 MiB, new content for every round. @type {import('./index.mjs').Work} */
export const publishLarge = {
  name: 'publish-large',
  title: 'publish one 512 MiB array',
  unit: 'MB/s',
  rounds: { full: 7, quick: 3 },
  async prepare({ workspace, servers, largeSource }) {
    const source = await largeSource();
    return {
      beforeRound: () => source.renew(),
      pageCacheBytes: source.bytes * 1.25,
      participants: servers.map((server) => ({
        name: server.name,
        pid: server.pid,
        run: async () => {
          const { upload, discard } = adapterOf(server.module);
          const id = randomBytes(16).toString('hex');
          const seconds = await upload(workspace, server, source, id);
          discard(server, source, id);
          return { amount: source.bytes / 1e6, seconds };
        },
      })),
    };
  },
};
