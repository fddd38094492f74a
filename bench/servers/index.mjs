/**
 * The servers under comparison, behind one set of functions.
 *
 * @typedef {import('../lib/workspace.mjs').Workspace} Workspace
 * @typedef {import('../lib/large-source.mjs').Source} Source
 * @typedef {import('../lib/connection.mjs').Connection} Connection
 * @typedef {{ root?: string, verify?: string, profileDir?: string, flags?: string[],
 *   env?: Record<string, string>, by?: string[] }} StartOptions of this service
 * @typedef {{ name: string, module: string, port: number, dir: string }} Target plain data, can be sent to a process
 * @typedef {Target & { pid: number, stop: () => Promise<void> }} Server
 * @typedef {(connection: Connection) => Promise<void>} Job
 *
 * @typedef {(workspace: Workspace, options?: StartOptions) => Promise<Server>} Start
 * @typedef {(workspace: Workspace, target: Target, source: Source, id: string) => Promise<number>} Upload seconds
 * @typedef {(source: Source, id: string) => string} PathOf where the uploaded bytes can be read
 * @typedef {(target: Target, source: Source, id: string) => void} Discard from the disk, behind the server's back
 * @typedef {() => Job} SmallPut everything that can be made ready beforehand is; only the exchange is left
 * @typedef {(connection: Connection, body: Buffer) => Promise<string>} StoreObject the path it can be read at
 *
 * @typedef {{ name: string, module: string, missing: () => string | null, start: Start, upload: Upload, pathOf: PathOf,
 *   discard: Discard, smallPut: SmallPut }} Adapter
 * @typedef {Adapter & { storeObject: StoreObject }} PeerAdapter
 */
import * as dockerRegistry from './docker-registry.mjs';
import * as nginx from './nginx.mjs';
import * as pipewhy from './pipewhy.mjs';

/** @type {readonly PeerAdapter[]} */
export const PEERS = [nginx, dockerRegistry];

/** @type {Adapter} */
export const OURS = pipewhy;

/** @type {readonly Adapter[]} */
export const ADAPTERS = [OURS, ...PEERS];

/** @param {string} module @returns {Adapter} */
export function adapterOf(module) {
  const found = ADAPTERS.find((adapter) => adapter.module === module);
  if (found === undefined) throw new Error(`no server named ${module}`);
  return found;
}
