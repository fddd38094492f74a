/**
 * Damages everything that comes from outside and looks at what the real server makes of it: multipart bodies, metadata,
 * manifests on disk, Range and conditional headers, paths, and bytes that are hardly HTTP.
 *
 *     npm run build && node test/campaigns/fuzz.mjs [--seed 1] [--seconds 60]
 *
 * Overnight: `--seconds 28800`. The seed repeats the cases, how many of them fit into the time depends on the machine.
 * After every case the server must be the same process, alive, and its store must prove.
 */
import fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { damageBytes, damageDocument, pick, spell, upTo } from './mutations.mjs';
import {
  finish,
  flagsOf,
  idOf,
  metadataOf,
  publish,
  randomOf,
  request,
  sha256,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, seconds } = flagsOf({ seed: 1, seconds: 60 });
const root = temporaryDirectory();
const server = await startServer(root, {
  flags: ['--idle-seconds', '2', '--max-metadata-bytes', '64KiB', '--reserve-bytes', '0'],
});
const port = Number(new URL(server.url).port);
const CRLF = '\r\n';

/** One exchange by the byte: what came back until the answer was whole or the connection ended. */
function exchange(bytes, { pieces = [bytes.length], hangUp = false } = {}) {
  return new Promise((resolve) => {
    const chunks = [];
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const timer = setTimeout(() => {
      chunks.push(Buffer.from('TIMED OUT'));
      done();
    }, 15_000);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks))) done();
    });
    socket.on('error', done).on('end', done).on('close', done);
    socket.on('connect', async () => {
      let at = 0;
      for (let turn = 0; at < bytes.length && !socket.destroyed; turn += 1) {
        const size = pieces[turn % pieces.length];
        socket.write(bytes.subarray(at, at + size));
        at += size;
        await new Promise(setImmediate);
      }
      if (hangUp) socket.end();
    });
  });
}

function isWhole(bytes) {
  const head = bytes.indexOf(CRLF + CRLF);
  if (head === -1) return false;
  const length = /^content-length: (\d+)\r$/imu.exec(bytes.subarray(0, head + 2).toString('latin1'))?.[1];
  return length !== undefined && bytes.length >= head + 4 + Number(length);
}

function answerOf(bytes) {
  const head = bytes.indexOf(CRLF + CRLF);
  if (head === -1) return { status: 0, headers: '', body: Buffer.alloc(0) };
  const text = bytes.subarray(0, head).toString('latin1');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1] ?? -1),
    headers: text,
    body: bytes.subarray(head + 4),
  };
}

/** What is wrong with an answer whatever was asked: not an answer, a surprise, or a word about the inside. */
function complaint(bytes, allow5xx = []) {
  const text = bytes.toString('latin1');
  if (text.includes('TIMED OUT')) return 'no answer in 15 seconds';
  const { status, headers, body } = answerOf(bytes);
  if (status === 0) return null;
  if (status === -1) return `not HTTP: ${JSON.stringify(text.slice(0, 80))}`;
  if (status >= 500 && !allow5xx.includes(status)) return `${status}: ${body.toString().slice(0, 300)}`;
  if (!/^x-content-type-options: nosniff\r?$/imu.test(headers)) return `${status} without security headers`;
  if (status >= 400 && (text.includes(root) || /node_modules|\.js:\d+/u.test(text)))
    return `leaks: ${text.slice(-300)}`;
  return null;
}

function uploadOf(random, id, boundary = 'fuzz-b') {
  const payload = Buffer.from(
    Array.from({ length: 8 * upTo(random, 40) }, () => pick(random, [13, 10, 45, 102, upTo(random, 256)])),
  );
  const document = metadataOf(id, { ids: 0 });
  const metadata = random() < 0.6 ? (damageDocument(random, document), spell(document)) : spell(document);
  const part = (name, bytes, more = '') => [
    Buffer.from(`--${boundary}${CRLF}Content-Disposition: form-data; name="${name}"${more}${CRLF}${CRLF}`),
    Buffer.from(bytes),
    Buffer.from(CRLF),
  ];
  const end = Buffer.from(`--${boundary}--${CRLF}`);
  const body = Buffer.concat([...part('metadata', metadata), ...part('ids', payload, '; filename="f"'), end]);
  return { body, payload };
}

const CASES = {
  async 'multipart bodies'(random, turn) {
    const id = idOf(turn);
    let { body, payload } = uploadOf(random, id);
    const damages = upTo(random, 4);
    for (let damage = 0; damage < damages; damage += 1) body = damageBytes(random, body);
    const isChunked = random() < 0.3;
    const length = random() < 0.9 ? body.length : Math.max(0, body.length + upTo(random, 9) - 4);
    const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    const head = `POST /snapshots HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Type: multipart/form-data; boundary=fuzz-b${CRLF}${framing}${CRLF}${CRLF}`;
    let sent = body;
    if (isChunked) {
      sent = Buffer.concat([
        Buffer.from(`${body.length.toString(16)}${CRLF}`),
        body,
        Buffer.from(`${CRLF}0${CRLF}${CRLF}`),
      ]);
      if (random() < 0.2) sent = damageBytes(random, sent);
    }
    const pieces = random() < 0.5 ? [1 << 20] : [1 + upTo(random, 300)];
    const bytes = await exchange(Buffer.concat([Buffer.from(head), sent]), { pieces, hangUp: true });
    const { status, body: answer } = answerOf(bytes);
    if (status === 201 && damages === 0) {
      const stored = JSON.parse(answer.toString());
      const file = join(root, 'snapshots', stored.snapshot.snapshot_id, 'array-ids.bin');
      if (!fs.readFileSync(file).equals(payload)) return 'published other bytes than were sent';
    }
    return complaint(bytes);
  },

  async 'manifests on disk'(random, turn) {
    const id = idOf(2 ** 40 + turn);
    const payload = Buffer.from(`payload ${turn}`);
    const published = await publish(server.url, id, { ids: payload });
    if (published.status !== 201) return `a plain publish answers ${published.status}`;
    const directory = join(root, 'snapshots', id);
    const file = pick(random, ['manifest.json', 'complete.sha256', 'intent.json', 'array-ids.bin']);
    const path = join(directory, file);
    const original = fs.readFileSync(path);
    let changed;
    if (file === 'manifest.json' && random() < 0.5) {
      const document = JSON.parse(original.toString());
      damageDocument(random, document);
      changed = Buffer.from(spell(document));
    } else changed = damageBytes(random, original);
    fs.writeFileSync(path, changed);
    // Half of the time the marker is made to fit, so that the manifest itself must be judged.
    if (file === 'manifest.json' && random() < 0.7)
      fs.writeFileSync(join(directory, 'complete.sha256'), `${sha256(changed)}\n`);
    const answers = [
      await request(`${server.url}/snapshots/${id}`),
      await request(`${server.url}/snapshots/${id}/array-ids.bin`),
    ];
    fs.rmSync(directory, { recursive: true });
    for (const [at, right] of [published.bytes, payload].entries()) {
      const { status, bytes } = answers[at];
      if (changed.equals(original) || (file === 'array-ids.bin' && at === 1 && status === 200)) {
        if (status !== 200 || !bytes.equals(right))
          return `${file}: ${status} where nothing right could be refused`;
      } else if (status === 200) {
        // A valid manifest that differs may be served, but only as what it is, and only where its own marker fits.
        if (file !== 'manifest.json' || !bytes.equals(at === 0 ? changed : right))
          return `${file} was damaged and ${at === 0 ? 'the manifest' : 'the array'} is served`;
      } else if (status !== 500 && !(status === 404 && at === 1)) return `${file} was damaged: ${status}`;
    }
    return null;
  },

  async 'ranges and conditions'(random) {
    const number = () =>
      pick(random, [
        '',
        '0',
        '1',
        '19',
        '99',
        '100',
        '1e3',
        '-1',
        ' 5',
        '18446744073709551616',
        '9007199254740993',
        'x',
        '٣',
      ]);
    const one = () => `${number()}-${number()}`;
    const etag = () =>
      pick(random, [
        '*',
        '"x"',
        'W/"x"',
        `"${fixed.etag}"`,
        `W/"${fixed.etag}"`,
        fixed.etag,
        '',
        '"',
        ',',
        `"x", "${fixed.etag}"`,
        '"a""b"',
      ]);
    const lines = [];
    if (random() < 0.8)
      lines.push(
        `Range: ${pick(random, ['bytes=', 'BYTES=', 'bytes =', 'items=', '', 'bytes'])}${[one(), one(), one()].slice(0, 1 + upTo(random, 3)).join(',')}`,
      );
    for (const name of ['If-Range', 'If-Match', 'If-None-Match'])
      if (random() < 0.3) lines.push(`${name}: ${etag()}`);
    const method = pick(random, ['GET', 'GET', 'GET', 'HEAD']);
    const head = [
      `${method} /snapshots/${fixed.id}/array-ids.bin HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      ...lines,
      '',
      '',
    ].join(CRLF);
    const bytes = await exchange(Buffer.from(head), { hangUp: false });
    const { status, headers, body } = answerOf(bytes);
    if (method === 'GET' && status === 200 && !body.equals(fixed.payload))
      return `200 with other bytes: ${lines.join(' | ')}`;
    if (method === 'GET' && status === 206) {
      const [, start, end, total] =
        /^content-range: bytes (\d+)-(\d+)\/(\d+)\r?$/imu.exec(headers)?.map(Number) ?? [];
      if (total !== fixed.payload.length || !body.equals(fixed.payload.subarray(start, end + 1)))
        return `206 with other bytes: ${lines.join(' | ')}`;
    }
    if (![200, 206, 304, 400, 412, 416].includes(status)) return `${status} for ${lines.join(' | ')}`;
    return complaint(bytes);
  },

  async paths(random) {
    const piece = () =>
      pick(random, [
        'snapshots',
        fixed.id,
        'array-ids.bin',
        'manifest.json',
        'incomplete',
        'docs',
        'openapi.json',
        '..',
        '.',
        '',
        '%2e%2e',
        '%2f',
        '%00',
        '%',
        '%zz',
        '%ff',
        '%c0%af',
        'CON',
        'é',
        '*',
        '?limit=1',
        '?limit=%00',
        '?after=',
        '&',
        '#',
        ';',
        '\\',
        'array-../x.bin',
        'x'.repeat(upTo(random, 400)),
      ]);
    const path = `/${Array.from({ length: 1 + upTo(random, 5) }, piece).join(pick(random, ['/', '/', '']))}`;
    const method = pick(random, [
      'GET',
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'OPTIONS',
      'PATCH',
      'TRACE',
      'PROPFIND',
    ]);
    const bytes = await exchange(
      Buffer.from(
        `${method} ${path} HTTP/1.1${CRLF}Host: localhost${CRLF}Connection: close${CRLF}Content-Length: 0${CRLF}${CRLF}`,
        'utf8',
      ),
    );
    return complaint(bytes);
  },

  async 'requests that are hardly HTTP'(random, turn) {
    const { body } = uploadOf(random, idOf(2 ** 41 + turn));
    let bytes = Buffer.concat([
      Buffer.from(
        `POST /snapshots HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Type: multipart/form-data; boundary=fuzz-b${CRLF}Content-Length: ${body.length}${CRLF}${CRLF}`,
      ),
      body,
      Buffer.from(`GET /healthz HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`),
    ]);
    for (let damage = 1 + upTo(random, 3); damage > 0; damage -= 1) {
      // Mostly in the head, where the framework has its say.
      const cut = Math.min(bytes.length, 200);
      bytes = Buffer.concat([damageBytes(random, bytes.subarray(0, cut)), bytes.subarray(cut)]);
    }
    return complaint(await exchange(bytes, { hangUp: true }));
  },
};

const fixed = { id: idOf(2 ** 45), payload: Buffer.from(Array.from({ length: 100 }, (_, at) => at)) };
fixed.etag = sha256(fixed.payload);
if ((await publish(server.url, fixed.id, { ids: fixed.payload })).status !== 201)
  throw new Error('The first publish failed.');

const names = Object.keys(CASES);
for (const [index, name] of names.entries()) {
  const random = randomOf(seed * 1000 + index);
  const until = Date.now() + (seconds * 1000) / names.length;
  const violations = [];
  let turn = 0;
  while (Date.now() < until) {
    turn += 1;
    const wrong = await CASES[name](random, turn);
    if (wrong !== null) violations.push(`seed ${seed}, case ${turn}: ${wrong}`);
    if (turn % 50 === 0) {
      const health = await request(`${server.url}/healthz`);
      if (health.status !== 200)
        violations.push(`seed ${seed}, case ${turn}: the server does not answer any more: ${server.log()}`);
    }
    if (violations.length > 50) break;
  }
  const listing = await request(`${server.url}/snapshots`);
  if (listing.status !== 200)
    violations.push(
      `the listing answers ${listing.status} at the end: ${listing.bytes?.toString().slice(0, 300)}`,
    );
  const incomplete = await request(`${server.url}/incomplete`);
  if (incomplete.status !== 200) violations.push(`/incomplete answers ${incomplete.status} at the end`);
  summary(`fuzz: ${name}`, `${turn} cases, seed ${seed}`, violations);
}
await server.kill();
finish();
