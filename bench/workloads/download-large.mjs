import { randomBytes } from 'node:crypto';
import { curl } from '../lib/curl.mjs';
import { adapterOf } from '../servers/index.mjs';
import { readersOf } from './readers.mjs';

/** The same array back, into nowhere. @type {import('./index.mjs').Work} */
export const downloadLarge = {
  name: 'download-large',
  title: 'download the 512 MiB array',
  unit: 'MB/s',
  rounds: { full: 7, quick: 3 },
  async prepare(context) {
    const { workspace, largeSource } = context;
    const source = await largeSource();
    const id = randomBytes(16).toString('hex');
    const readers = await readersOf(context, 'download', async (server) => {
      await adapterOf(server.module).upload(workspace, server, source, id);
    });
    return {
      participants: readers.servers.map((server) => ({
        name: server.name,
        pid: server.pid,
        run: async () => {
          const path = adapterOf(server.module).pathOf(source, id);
          const seconds = await curl(workspace, [`http://127.0.0.1:${server.port}${path}`], 200);
          return { amount: source.bytes / 1e6, seconds };
        },
      })),
      finish: readers.stop,
    };
  },
};
