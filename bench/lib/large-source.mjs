/** The file that large uploads send: random once, then different in its first bytes for every round. */
import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const MIB = 1024 * 1024;

/**
 * @typedef {{ path: string, bytes: number, sha256: string }} Source
 * @typedef {Source & { renew: () => Promise<void> }} RenewableSource
 */

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {number} mebibytes
 * @returns {Promise<RenewableSource>}
 */
export async function makeSource(workspace, mebibytes) {
  const path = join(workspace.dir, `source-${mebibytes}`);
  const block = Buffer.alloc(MIB);
  const file = openSync(path, 'w');
  for (let index = 0; index < mebibytes; index += 1) writeSync(file, randomFillSync(block));
  closeSync(file);

  const source = {
    path,
    bytes: mebibytes * MIB,
    sha256: '',
    // A store that recognises known content would otherwise have less to do from the second round on.
    renew: async () => {
      const head = openSync(path, 'r+');
      writeSync(head, randomBytes(8), 0, 8, 0);
      closeSync(head);
      const hash = createHash('sha256');
      await pipeline(createReadStream(path, { highWaterMark: MIB }), hash);
      source.sha256 = hash.digest('hex');
    },
  };
  await source.renew();
  return source;
}
