/** docker-registry with its file system driver: hashes what it receives, syncs it, renames it; reads are not proven. */
import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus, openConnection, request } from '../lib/connection.mjs';
import { curl } from '../lib/curl.mjs';
import { freePort, untilListening } from '../lib/ports.mjs';
import { findProgram } from './programs.mjs';

const BLOBS = '/v2/bench/blobs';
const OCTETS = { 'Content-Type': 'application/octet-stream' };

export const name = 'docker-registry';
export const module = 'docker-registry';

/** @returns {string | null} why it cannot take part */
export function missing() {
  return findProgram('docker-registry') === null
    ? 'docker-registry is not installed: apt-get install docker-registry'
    : null;
}

/** @type {import('./index.mjs').Start} */
export async function start(workspace) {
  const dir = workspace.folder('docker-registry');
  const port = await freePort();
  const config = join(workspace.dir, 'docker-registry.yml');
  writeFileSync(config, configuration(dir, port));
  const child = workspace.spawn(
    /** @type {string} */ (findProgram('docker-registry')),
    ['serve', config],
    // It announces itself on its standard error whatever its log level.
    { stdio: 'ignore' },
  );
  await untilListening(port, child);
  return { name, module, port, dir, pid: Number(child.pid), stop: () => workspace.stop(child) };
}

/** @type {import('./index.mjs').Upload} */
export async function upload(workspace, target, source) {
  const started = performance.now();
  const connection = await openConnection(target.port);
  const place = uploadPlace(await connection.send(request('POST', `${BLOBS}/uploads/`, {})), source.sha256);
  connection.close();
  const opening = (performance.now() - started) / 1000;
  const type = `Content-Type: ${OCTETS['Content-Type']}`;
  const args = ['--header', type, '--upload-file', source.path, `http://127.0.0.1:${target.port}${place}`];
  return opening + (await curl(workspace, args, 201));
}

/** @type {import('./index.mjs').PathOf} */
export function pathOf(source) {
  return `${BLOBS}/sha256:${source.sha256}`;
}

/** @type {import('./index.mjs').Discard} */
export function discard(target, { sha256 }) {
  const blob = join('docker/registry/v2/blobs/sha256', sha256.slice(0, 2), sha256);
  rmSync(join(target.dir, blob), { recursive: true });
}

/** @type {import('./index.mjs').SmallPut} */
export function smallPut() {
  const body = randomFillSync(Buffer.alloc(4096));
  return putter(body, createHash('sha256').update(body).digest('hex'));
}

/** @type {import('./index.mjs').StoreObject} */
export async function storeObject(connection, body) {
  const sha256 = createHash('sha256').update(body).digest('hex');
  await putter(body, sha256)(connection);
  return `${BLOBS}/sha256:${sha256}`;
}

/**
 * One blob in its shortest form: open an upload, then send everything with the digest.
 * @param {Buffer} body
 * @param {string} sha256
 * @returns {import('./index.mjs').Job}
 */
function putter(body, sha256) {
  const open = request('POST', `${BLOBS}/uploads/`, {});
  return async (connection) => {
    const place = uploadPlace(await connection.send(open), sha256);
    expectStatus(await connection.send(request('PUT', place, OCTETS, body)), 201);
  };
}

/**
 * @param {import('../lib/connection.mjs').Answer} answer
 * @param {string} sha256
 */
function uploadPlace(answer, sha256) {
  const location = /^location: *(\S+)/im.exec(expectStatus(answer, 202).head)?.[1];
  const url = new URL(location ?? '', 'http://127.0.0.1');
  url.searchParams.set('digest', `sha256:${sha256}`);
  return url.pathname + url.search;
}

/** As Debian ships it, without the password and the logging. @param {string} dir @param {number} port */
function configuration(dir, port) {
  return `
version: 0.1
log: { level: error, accesslog: { disabled: true } }
storage:
  cache: { blobdescriptor: inmemory }
  filesystem: { rootdirectory: ${JSON.stringify(dir)} }
  delete: { enabled: true }
http: { addr: "127.0.0.1:${port}", secret: ${randomBytes(16).toString('hex')} }
health: { storagedriver: { enabled: true, interval: 10s, threshold: 3 } }
`;
}
