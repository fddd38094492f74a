/**
 * Refuses bodies of 200 MB while real clients send them: each must hear the answer every time, in bounded time, and the
 * server must not have read more than was sent.
 *
 *     npm run build && node test/campaigns/refused-clients.mjs [--times 10] [--megabytes 200] [--seed 1]
 *
 * The clients: curl, Python's urllib and requests, Java's HttpClient, undici; what a machine lacks is skipped.
 */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request as undici } from 'undici';
import {
  finish,
  flagsOf,
  hasCommand,
  idOf,
  metadataOf,
  publish,
  skipped,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { times, megabytes } = flagsOf({ times: 10, megabytes: 200, seed: 1 });
const MIB = 1024 * 1024;
const SECONDS = 30;
const BOUNDARY = 'refused-b';
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;
const TOKEN = 'campaign-token';
const directory = temporaryDirectory();
const files = (name) => fileURLToPath(new URL(`./clients/${name}`, import.meta.url));

function fileOf(name, metadata) {
  const path = join(directory, name);
  const part = (key, more) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${key}"${more}\r\n\r\n`;
  fs.writeFileSync(
    path,
    `${part('metadata', '')}${JSON.stringify(metadata)}\r\n${part('big', '; filename="f"')}`,
  );
  const end = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const file = fs.openSync(path, 'r+');
  fs.ftruncateSync(file, megabytes * MIB);
  fs.writeSync(file, end, 0, end.length, megabytes * MIB - end.length);
  fs.closeSync(file);
  return path;
}

const existing = idOf(1);
const root = join(directory, 'store');
const open = await startServer(root, { flags: ['--reserve-bytes', '0'] });
await publish(open.url, existing, { ids: Buffer.from('x') });
const small = await startServer(root, {
  flags: ['--max-snapshot-bytes', '1MiB', '--max-uploads', '1', '--max-arrays', '16', '--reserve-bytes', '0'],
});
const locked = await startServer(root, { flags: ['--token', TOKEN] });
const full = await startServer(join(directory, 'busy'), {
  flags: ['--max-uploads', '1', '--reserve-bytes', '0'],
});
// Takes the only place for an upload and keeps it.
const holder = http.request(`${full.url}/snapshots`, {
  method: 'POST',
  headers: { 'content-type': MULTIPART, 'content-length': 10_000_000 },
});
holder.on('error', () => undefined);
const holding = setInterval(() => holder.write('-'), 5_000);
holder.write(`--${BOUNDARY}\r\n`);

const exists = fileOf('exists.bin', metadataOf(existing, { big: 0 }));
const wrong = fileOf('wrong.bin', metadataOf('not-an-id', { big: 0 }));
const fresh = fileOf('fresh.bin', metadataOf(idOf(2), { big: 0 }));

/** What is refused, by which server, with which status and code. */
const REFUSALS = [
  ['409 snapshot_exists', open.url, exists, MULTIPART, ''],
  ['422 contract_violation', open.url, wrong, MULTIPART, ''],
  ['413 limit_exceeded', small.url, fresh, MULTIPART, ''],
  ['401 unauthorized', locked.url, fresh, MULTIPART, 'Authorization: Bearer wrong'],
  ['403 forbidden_origin', open.url, fresh, MULTIPART, 'Origin: null'],
  ['415 unsupported_media_type', open.url, fresh, 'application/octet-stream', ''],
  ['503 unavailable', full.url, fresh, MULTIPART, ''],
];

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let complaints = '';
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (complaints = (complaints + data).slice(-300)));
    child.on('close', () =>
      resolve(out.trim() === '' ? `0 ${complaints.trim().split('\n').at(-1)}` : out.trim()),
    );
  });
}

async function each(send) {
  const got = [];
  for (let turn = 0; turn < times; turn += 1) got.push(await send());
  return got;
}

const python = (library) => (url, file, type, header) =>
  each(() => run('python3', [files('send.py'), library, `${url}/snapshots`, file, type, header]));
const CLIENTS = {
  curl: hasCommand('curl') && ((url, file, type, header) => each(async () => {
    const headers = ['--header', `Content-Type: ${type}`, ...(header === '' ? [] : ['--header', header])];
    const out = await run('curl', ['--silent', '--max-time', String(SECONDS * 2), '--write-out', '\n%{http_code}', ...headers, '--data-binary', `@${file}`, `${url}/snapshots`]);
    const [body, status] = [out.slice(0, out.lastIndexOf('\n')), out.split('\n').at(-1)];
    return `${status} ${/"code":"([a-z_]+)"/u.exec(body)?.[1]}`;
  })),
  'python urllib': hasCommand('python3') && python('urllib'),
  'python requests': spawnSync('python3', ['-c', 'import requests'], { stdio: 'ignore' }).status === 0 && python('requests'),
  'java HttpClient': hasCommand('java', ['-version']) && (async (url, file, type, header) => (await run('java', [files('Send.java'), `${url}/snapshots`, file, type, header, String(times)])).split('\n')),
  undici: (url, file, type, header) => each(async () => {
    try {
      const headers = { 'content-type': type, 'content-length': String(fs.statSync(file).size), ...(header !== '' && Object.fromEntries([header.split(': ')])) };
      const answer = await undici(`${url}/snapshots`, { method: 'POST', headers, body: fs.createReadStream(file) });
      return `${answer.statusCode} ${(await answer.body.json()).code}`;
    } catch (error) {
      return `0 ${error.message}`;
    }
  }),
}; // prettier-ignore

for (const [client, send] of Object.entries(CLIENTS)) {
  if (!send) {
    skipped(`refused while sending: ${client}`, 'it is not here');
    continue;
  }
  const violations = [];
  const slowest = [];
  for (const [expected, url, file, type, header] of REFUSALS) {
    const started = Date.now();
    const got = await send(url, file, type, header);
    const took = (Date.now() - started) / times;
    slowest.push(took);
    const lost = got.filter((answer) => answer !== expected);
    if (lost.length > 0 || got.length !== times)
      violations.push(
        `${client}, ${expected}: ${lost.length} of ${times} got ${[...new Set(lost)].join(' or ')}`,
      );
    if (took > SECONDS * 1000) violations.push(`${client}, ${expected}: ${Math.round(took)} ms each`);
  }
  summary(
    `refused while sending ${megabytes} MB: ${client}`,
    `${REFUSALS.length} refusals, ${times} times each, at most ${Math.round(Math.max(...slowest))} ms`,
    violations,
  );
}
clearInterval(holding);
holder.destroy();
for (const server of [open, small, locked, full]) await server.kill();
finish();
