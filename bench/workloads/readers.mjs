/**
 * Servers for the work that only reads. This service gets an instance that wrote nothing itself, once with its default
 * verification and once with the one that remembers proofs; the peers are those that run already.
 */
import { OURS } from '../servers/index.mjs';

/**
 * @typedef {import('../servers/index.mjs').Server} Server
 * @param {import('./index.mjs').Context} context
 * @param {string} folder
 * @param {(server: Server) => Promise<void>} fill stores what is to be read, in every server
 * @returns {Promise<{ servers: Server[], stop: () => Promise<void> }>}
 */
export async function readersOf(context, folder, fill) {
  const peers = context.servers.filter(({ module }) => module !== OURS.module);
  const root = context.workspace.folder(folder);
  const own = peers.length < context.servers.length ? await ownReaders(context, root, fill) : [];
  for (const peer of peers) await fill(peer);
  return {
    servers: [...own, ...peers],
    stop: async () => {
      await Promise.all(own.map((server) => server.stop()));
      context.workspace.drop(root);
    },
  };
}

/**
 * @param {import('./index.mjs').Context} context
 * @param {string} root
 * @param {(server: Server) => Promise<void>} fill
 */
async function ownReaders({ workspace, serverOptions, profiling }, root, fill) {
  const writer = await OURS.start(workspace, { root });
  await fill(writer);
  await writer.stop();
  const reader = await OURS.start(workspace, { ...serverOptions, root });
  // A profile is of one server.
  return profiling ? [reader] : [reader, await OURS.start(workspace, { root, verify: 'once' })];
}
