/**
 * Sends the worst bodies that fit into the limits, many at once, and measures how long the event loop of the real server
 * was held and how much memory it took.
 *
 *     npm run build && node test/campaigns/pressure.mjs [--seed 1] [--lag 200] [--rss 800] [--parallel 64]
 *
 * Documents may be four times as long as by default. `--lag` is the longest delay in milliseconds, beyond that of the same
 * bytes refused unread, and `--rss` the most memory in MiB that count as bounded.
 */
import fs from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  finish,
  flagsOf,
  idOf,
  metadataOf,
  randomOf,
  request,
  sleep,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, lag, rss, parallel } = flagsOf({ seed: 1, lag: 200, rss: 800, parallel: 64 });
const random = randomOf(seed);
const MIB = 1024 * 1024;
const BOUNDARY = 'pressure-b';
const root = temporaryDirectory();
const notes = join(root, 'lag.txt');
fs.writeFileSync(notes, '');
const preload = fileURLToPath(new URL('./loop-lag.mjs', import.meta.url));
const server = await startServer(join(root, 'store'), {
  env: { NODE_OPTIONS: `--import ${preload}`, LOOP_LAG_FILE: notes },
  flags: ['--reserve-bytes', '0', '--max-metadata-bytes', '4MiB'],
});
const { port } = new URL(server.url);
const agent = new http.Agent({ keepAlive: true, maxSockets: parallel });

function post(metadata, parts = []) {
  const type = metadata === null ? 'text/plain' : `multipart/form-data; boundary=${BOUNDARY}`;
  const pieces = [
    ['metadata', metadata === null ? Buffer.alloc(4 * MIB) : Buffer.from(metadata)],
    ...parts,
  ].flatMap(([name, bytes]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
  const body = Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  return new Promise((resolve) => {
    const sent = http.request(
      {
        host: '127.0.0.1',
        port,
        path: '/snapshots',
        method: 'POST',
        agent,
        headers: {
          'content-type': type,
          'content-length': body.length,
        },
      },
      (answer) => {
        answer.resume().on('close', () => resolve(answer.statusCode));
      },
    );
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

let number = 0;
const valid = (arrays) => {
  const document = metadataOf(idOf((number += 1)), {});
  return { ...document, arrays };
};
const fill = (start, piece, end) =>
  start + piece.repeat(Math.floor((4 * MIB - start.length - end.length - 1000) / piece.length)) + end;
const names = (count, entry) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, entry]));
const noise = Buffer.from(Array.from({ length: 65536 }, () => Math.floor(random() * 256)));

/** What is sent, and the statuses that are right for it. The first is the measure: bodies of which nothing is read. */
const BODIES = {
  'refused by their media type, for comparison': [() => [null], [415]],
  'nested arrays': [() => [fill('', '[', '')], [400]],
  'nested objects': [() => [fill('', '{"a":', '')], [400]],
  'a flat array of numbers': [() => [fill('[', '1,', '1]')], [413]],
  'a flat array of empty objects': [() => [fill('[', '{},', '{}]')], [413]],
  'one object of short names, each once': [() => [`{${Array.from({ length: 350_000 }, (_, at) => `"${at.toString(36)}":1`).join()}}`], [413]],
  'one object of one name, again and again': [() => [fill('{', '"a":1,', '"a":1}')], [400]],
  'escapes': [() => [fill('{"a":"', '\\u0041', '"}')], [422]],
  'a long number': [() => [fill('', '1', '')], [422]],
  'a long string of pairs': [() => [fill('"', '😀', '"').slice(0, 2 * MIB - 2) + '"'], [400, 413, 422]],
  'blanks': [() => [fill('', ' ', '{}')], [422]],
  'arrays with wrong types': [() => [JSON.stringify(valid(names(50_000, { dtype: 'float64' })))], [422]],
  'arrays with unknown members': [() => [JSON.stringify(valid(names(1000, Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`member${at}`, at])))))], [413]],
  'more arrays than the limit': [() => [JSON.stringify(valid(names(100_000, { dtype: 'int8' })))], [413]],
  '1,024 arrays with one byte each': [() => [JSON.stringify(valid(names(1024, { dtype: 'int8' }))), Array.from({ length: 1024 }, (_, at) => [`a${at}`, Buffer.from('x')])], [201], 4],
  'a payload of delimiters that are none': [() => [JSON.stringify(valid({ big: { dtype: 'uint8' } })), [['big', Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(400_000))]]], [201], 8],
  'a payload of carriage returns': [() => [JSON.stringify(valid({ big: { dtype: 'uint8' } })), [['big', Buffer.alloc(8 * MIB, 13)]]], [201], 8],
  'a payload of noise': [() => [JSON.stringify(valid({ big: { dtype: 'uint8' } })), [['big', Buffer.concat(Array(128).fill(noise))]]], [201], 8],
  'a megabyte of failure reasons': [() => { const document = valid({}); document.snapshot.coverage = { status: 'PARTIAL', expected_records: null, returned_records: '1', failure_reasons: Array(200_000).fill('r') }; return [JSON.stringify(document)]; }, [201], 8],
}; // prettier-ignore

/** What this machine does to a loop that has nothing to do but take the bytes. */
let floor;
await sleep(500);
for (const [what, [make, right, times = parallel]] of Object.entries(BODIES)) {
  fs.writeFileSync(notes, '');
  const bodies = Array.from({ length: times }, make);
  const started = Date.now();
  const health = [];
  const statuses = Promise.all(bodies.map((body) => post(...body)));
  let over = false;
  statuses.finally(() => (over = true));
  while (!over) {
    const asked = Date.now();
    await request(`${server.url}/healthz`);
    health.push(Date.now() - asked);
    await sleep(20);
  }
  const got = await statuses;
  await sleep(250);
  const measured = fs.readFileSync(notes, 'utf8').trim().split('\n').map((line) => line.split(' ').map(Number)); // prettier-ignore
  const worst = Math.max(...measured.map(([delay]) => delay));
  const memory = Math.round(Math.max(...measured.map(([, bytes]) => bytes)) / MIB);
  const violations = [];
  const wrong = got.filter((status) => !right.includes(status));
  if (wrong.length > 0)
    violations.push(`${what}: answered ${[...new Set(wrong)].join()} instead of ${right.join(' or ')}`);
  floor ??= worst;
  if (worst > lag + floor) violations.push(`${what}: the event loop was held for ${worst} ms`);
  if (memory > rss) violations.push(`${what}: ${memory} MiB of memory`);
  summary(
    `pressure: ${what}`,
    `${times} at once in ${Date.now() - started} ms, loop held ${worst} ms, a probe waited ${Math.max(...health)} ms, ${memory} MiB`,
    violations,
  );
}
await server.kill();
finish();
