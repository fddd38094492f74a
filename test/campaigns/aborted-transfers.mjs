/**
 * Breaks off uploads and downloads of the real server at random places and counts what stays behind: descriptors, memory,
 * snapshots that nobody finished, attempts that nobody shows.
 *
 *     npm run build && node test/campaigns/aborted-transfers.mjs [--seed 1] [--count 500]
 */
import fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import {
  finish,
  flagsOf,
  idOf,
  metadataOf,
  payloadOf,
  publish,
  randomOf,
  request,
  sleep,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, count } = flagsOf({ seed: 1, count: 500 });
const random = randomOf(seed);
const root = temporaryDirectory();
const server = await startServer(root, { flags: ['--reserve-bytes', '0'] });
const port = Number(new URL(server.url).port);
const MIB = 1024 * 1024;
const BOUNDARY = 'aborted-b';
const descriptors = () => fs.readdirSync(`/proc/${server.pid}/fd`).length;
const memory = () =>
  Number(/VmRSS:\s+(\d+)/u.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) * 1024;

const bytes = payloadOf(random, 8 * MIB);
const published = idOf(2 ** 40);
if ((await publish(server.url, published, { big: bytes })).status !== 201)
  throw new Error('The first publish failed.');

/** Sends, waits until so much has been sent or received, and goes away with FIN or RST. */
function breakOff(start, { sends = Buffer.alloc(0), receives = 0 }) {
  const reset = random() < 0.5;
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    let got = 0;
    const leave = () => {
      if (reset) socket.resetAndDestroy();
      else socket.destroy();
    };
    socket.on('error', () => undefined).on('close', resolve);
    socket.setTimeout(10_000, leave);
    socket.on('connect', () =>
      socket.write(Buffer.concat([Buffer.from(start), sends]), () => receives === 0 && leave()),
    );
    socket.on('data', (chunk) => {
      got += chunk.length;
      if (got >= receives) leave();
    });
  });
}

function upload(number) {
  const part = (key) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${key}"; filename="f"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(`${part('metadata')}${JSON.stringify(metadataOf(idOf(number), { big: 0 }))}\r\n${part('big')}`), bytes.subarray(0, 3 * MIB), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]); // prettier-ignore
  const cut = Math.floor(random() * (random() < 0.3 ? 2000 : body.length));
  const head = `POST /snapshots HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return breakOff(head, { sends: body.subarray(0, cut) });
}

function download() {
  const file = random() < 0.3 ? 'package.tar' : 'array-big.bin';
  const head = `GET /snapshots/${published}/${file} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  return breakOff(head, { receives: 1 + Math.floor(random() * 7 * MIB) });
}

const lanes = (work) => Promise.all(Array.from({ length: 8 }, async (_, lane) => {
  for (let number = lane; number < count; number += 8) await work(number + 1);
})); // prettier-ignore

const settle = async (before) => {
  for (let turn = 0; turn < 100 && descriptors() > before; turn += 1) await sleep(100);
};

for (const [what, work] of [
  ['uploads', upload],
  ['downloads', download],
]) {
  // The first few make what is made once: threads, pools, files of the runtime.
  for (let number = 0; number < 8; number += 1) await work(100_000 + number);
  await sleep(500);
  const before = descriptors();
  const memoryBefore = memory();
  await lanes(work);
  await settle(before);
  const violations = [];
  if (descriptors() > before)
    violations.push(`${what}: ${before} descriptors before, ${descriptors()} after`);
  const grown = Math.round((memory() - memoryBefore) / MIB);
  if (grown > 400) violations.push(`${what}: ${grown} MiB more memory`);
  const listing = await request(`${server.url}/snapshots`);
  if (listing.status !== 200 || listing.json().snapshots.length !== 1)
    violations.push(`the listing answers ${listing.status} with something else than the one snapshot`);
  const incomplete = await request(`${server.url}/incomplete`);
  const attempts = fs.readdirSync(join(root, 'staging')).length;
  if (incomplete.status !== 200 || incomplete.json().incomplete.length !== attempts)
    violations.push(`/incomplete does not show the ${attempts} attempts`);
  const again = await publish(server.url, idOf(2 ** 41), { big: bytes });
  if (again.status !== 201) violations.push(`a publish afterwards answers ${again.status}`);
  else fs.rmSync(join(root, 'snapshots', idOf(2 ** 41)), { recursive: true });
  summary(
    `aborted ${what}`,
    `${count}, descriptors ${before} -> ${descriptors()}, memory ${grown >= 0 ? '+' : ''}${grown} MiB, ${attempts} attempts kept`,
    violations,
  );
}
await server.kill();
finish();
