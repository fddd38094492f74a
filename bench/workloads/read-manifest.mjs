import { openConnection } from '../lib/connection.mjs';
import { smallReads } from '../lib/small-reads.mjs';
import { PEERS } from '../servers/index.mjs';
import { publishSmall } from '../servers/pipewhy.mjs';
import { readersOf } from './readers.mjs';

const OBJECTS = 100;
const CONNECTIONS = 16;
// What a manifest of three arrays is long, where this service does not take part to write real ones.
const MANIFEST_BYTES = 1300;

/** Manifests of three 4 KiB arrays, which are proven each time; for the peers the same bytes as plain objects. */
/** @type {import('./index.mjs').Work} */
export const readManifest = {
  name: 'read-manifest',
  title: `read small manifests, ${CONNECTIONS} connections`,
  unit: '/s',
  rounds: { full: 5, quick: 2 },
  async prepare(context) {
    /** @type {Map<string, string[]>} */
    const paths = new Map();
    /** @type {Buffer[]} */
    let manifests = Array.from({ length: OBJECTS }, (_, index) =>
      Buffer.alloc(MANIFEST_BYTES, String(index)),
    );
    const readers = await readersOf(context, 'read-manifest', async (server) => {
      const connection = await openConnection(server.port);
      const peer = PEERS.find(({ module }) => module === server.module);
      if (peer === undefined) {
        const published = [];
        for (let index = 0; index < OBJECTS; index += 1) published.push(await publishSmall(connection));
        manifests = published.map(({ manifest }) => manifest);
        paths.set(
          server.module,
          published.map(({ path }) => path),
        );
      } else {
        const stored = [];
        for (const manifest of manifests) stored.push(await peer.storeObject(connection, manifest));
        paths.set(server.module, stored);
      }
      connection.close();
    });
    const seconds = context.quick ? 1 : 3;
    return {
      participants: readers.servers.map((server) => ({
        name: server.name,
        pid: server.pid,
        run: async () => {
          const load = { connections: CONNECTIONS, seconds };
          const rate = await smallReads(context.workspace, server.port, paths.get(server.module) ?? [], load);
          return { amount: rate * seconds, seconds };
        },
      })),
      finish: readers.stop,
    };
  },
};
