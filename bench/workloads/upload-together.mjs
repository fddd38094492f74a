import { randomBytes } from 'node:crypto';
import { makeSource } from '../lib/large-source.mjs';
import { adapterOf } from '../servers/index.mjs';

const UPLOADS = 16;
const MEBIBYTES = 64;

/** Many uploads at once; what matters most is the memory beside it. @type {import('./index.mjs').Work} */
export const uploadTogether = {
  name: 'upload-together',
  title: `publish ${UPLOADS} x ${MEBIBYTES} MiB at once`,
  unit: 'MB/s',
  rounds: { full: 3, quick: 1 },
  async prepare({ workspace, servers }) {
    const source = await makeSource(workspace, MEBIBYTES);
    return {
      beforeRound: () => source.renew(),
      pageCacheBytes: UPLOADS * source.bytes * 1.25,
      participants: servers.map((server) => ({
        name: server.name,
        pid: server.pid,
        run: async () => {
          const { upload, discard } = adapterOf(server.module);
          const ids = Array.from({ length: UPLOADS }, () => randomBytes(16).toString('hex'));
          const started = performance.now();
          await Promise.all(ids.map((id) => upload(workspace, server, source, id)));
          const seconds = (performance.now() - started) / 1000;
          // Content-addressed stores keep one copy.
          for (const id of new Map(
            ids.map((one) => [adapterOf(server.module).pathOf(source, one), one]),
          ).values()) {
            discard(server, source, id);
          }
          return { amount: (UPLOADS * source.bytes) / 1e6, seconds };
        },
      })),
    };
  },
};
