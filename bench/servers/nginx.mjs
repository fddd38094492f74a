/** nginx with its WebDAV module: receives a body into a temporary file and renames it. It neither hashes nor syncs. */
import { spawnSync } from 'node:child_process';
import { randomBytes, randomFillSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus, request } from '../lib/connection.mjs';
import { curl } from '../lib/curl.mjs';
import { freePort, untilListening } from '../lib/ports.mjs';
import { findProgram } from './programs.mjs';

export const name = 'nginx dav';
export const module = 'nginx';

/** @returns {string | null} why it cannot take part */
export function missing() {
  const program = findProgram('nginx');
  if (program === null) return 'nginx is not installed: apt-get install nginx-full';
  const { stderr } = spawnSync(program, ['-V'], { encoding: 'utf8' });
  return stderr.includes('http_dav_module') ? null : 'nginx has no dav module: apt-get install nginx-full';
}

/** @type {import('./index.mjs').Start} */
export async function start(workspace) {
  const dir = workspace.folder('nginx');
  const files = workspace.folder('nginx/files');
  const port = await freePort();
  const config = join(dir, 'nginx.conf');
  writeFileSync(config, configuration(dir, files, port));
  const child = workspace.spawn(
    /** @type {string} */ (findProgram('nginx')),
    ['-p', dir, '-c', config, '-e', 'stderr'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await untilListening(port, child);
  return { name, module, port, dir: files, pid: Number(child.pid), stop: () => workspace.stop(child) };
}

/** @type {import('./index.mjs').Upload} */
export async function upload(workspace, target, source, id) {
  return curl(workspace, ['--upload-file', source.path, `http://127.0.0.1:${target.port}/${id}`], 201);
}

/** @type {import('./index.mjs').PathOf} */
export function pathOf(_source, id) {
  return `/${id}`;
}

/** @type {import('./index.mjs').Discard} */
export function discard(target, _source, id) {
  rmSync(join(target.dir, id));
}

/** @type {import('./index.mjs').SmallPut} */
export function smallPut() {
  const bytes = request(
    'PUT',
    `/small/${randomBytes(16).toString('hex')}`,
    {},
    randomFillSync(Buffer.alloc(4096)),
  );
  return async (connection) => void expectStatus(await connection.send(bytes), 201);
}

/** @type {import('./index.mjs').StoreObject} */
export async function storeObject(connection, body) {
  const path = `/objects/${randomBytes(16).toString('hex')}`;
  expectStatus(await connection.send(request('PUT', path, {}, body)), 201);
  return path;
}

/** @param {string} dir @param {string} files @param {number} port */
function configuration(dir, files, port) {
  return `
daemon off;
worker_processes auto;
pid ${dir}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  client_max_body_size 0;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  server {
    listen 127.0.0.1:${port};
    root ${files};
    location / {
      dav_methods PUT DELETE;
      create_full_put_path on;
    }
  }
}
`;
}
