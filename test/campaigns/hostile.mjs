/**
 * What strangers do to a service that anybody can reach, with a figure and a bound for each: requests by the hundred on one
 * connection, answers that nobody reads, listings of huge entries, proofs that nobody waits for, headers by the thousand,
 * uploads that drip; and what a hostile service does to our client.
 *
 *     npm run build && node test/campaigns/hostile.mjs [--cases pipelined,listings] [--gib 2]
 *
 * `--gib` is the size of the array whose proof is aborted. Every case starts a service of its own and ends by itself; a
 * service that takes more than 3 GiB of memory is killed, and the case is a violation.
 */
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  finish,
  flagsOf,
  idOf,
  metadataOf,
  payloadOf,
  publish,
  randomOf,
  request,
  sha256,
  sleep,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { cases, gib, seed } = flagsOf({ cases: '', gib: 2, seed: 1 });
const KIB = 1024;
const MIB = 1024 * KIB;
const GUARD = 3 * 1024 * MIB;
const ID = idOf(1);
const HOST = 'Host: localhost\r\n';
const preload = fileURLToPath(new URL('./loop-lag.mjs', import.meta.url));
const directory = temporaryDirectory();
const random = randomOf(seed);

const started = [];

/** A started service whose memory and event loop are watched. */
async function watchedServer(name, flags = []) {
  const root = join(directory, name);
  const notes = join(directory, `${name}.lag`);
  fs.writeFileSync(notes, '');
  fs.mkdirSync(root, { recursive: true });
  const server = await startServer(root, {
    env: { NODE_OPTIONS: `--import ${preload}`, LOOP_LAG_FILE: notes },
    flags: ['--reserve-bytes', '0', '--max-uploads', '64', ...flags],
  });
  let peak = 0;
  let guarded = false;
  const watch = setInterval(() => {
    const now = memoryOf(server.pid);
    peak = Math.max(peak, now);
    if (now > GUARD && !guarded) {
      guarded = true;
      server.kill();
    }
  }, 20);
  server.ended.then(() => clearInterval(watch));
  const watched = {
    ...server,
    root,
    port: Number(new URL(server.url).port),
    /** Forgets what was measured before. */
    reset: () => {
      peak = 0;
      fs.writeFileSync(notes, '');
    },
    peakMiB: () => Math.round(peak / MIB),
    memoryMiB: () => Math.round(memoryOf(server.pid) / MIB),
    killed: () => guarded,
    loopHeldMs: () => Math.max(0, ...fs.readFileSync(notes, 'utf8').split('\n').map((line) => Number(line.split(' ')[0]))), // prettier-ignore
    descriptors: () => fs.readdirSync(`/proc/${server.pid}/fd`).length,
    cpuSeconds: () => {
      const stat = fs.readFileSync(`/proc/${server.pid}/stat`, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13);
      return (Number(user) + Number(system)) / 100;
    },
  };
  started.push(watched);
  return watched;
}

function memoryOf(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/u.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KIB;
  } catch {
    return 0;
  }
}

/** A connection that sends `bytes` and keeps no answer; `paused` reads nothing at all. */
function connection(port, bytes, { paused = false } = {}) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.received = 0;
    socket.text = '';
    socket.on('error', () => reject(new Error('The connection was refused.')));
    if (paused) socket.pause();
    else
      socket.on('data', (chunk) => {
        socket.received += chunk.length;
        if (socket.text.length < MIB) socket.text += chunk.toString('latin1');
      });
    socket.on('connect', () => {
      if (bytes !== undefined) socket.write(bytes);
      resolve(socket);
    });
  });
}

/** Sends `bytes` on a connection of its own; resolves to the whole answer, or to what came within the time. */
async function exchange(port, bytes, withinMs = 10_000) {
  const socket = await connection(port, bytes);
  await Promise.race([new Promise((resolve) => socket.once('close', resolve)), sleep(withinMs)]);
  socket.destroy();
  return socket.text;
}

/** A body may end without a line's end: the next answer then begins in its last line. */
const statusesOf = (text) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /gu)].map((match) => Number(match[1]));

async function until(condition, withinMs, everyMs = 50) {
  const end = Date.now() + withinMs;
  for (;;) {
    await sleep(everyMs);
    if (await condition()) return true;
    if (Date.now() > end) return false;
  }
}

/** Waits until the service has nothing to do any more. */
async function idle(server, withinMs) {
  let before = server.cpuSeconds();
  await until(
    async () => {
      if (server.killed()) return true;
      const now = server.cpuSeconds();
      const busy = now - before;
      before = now;
      return busy < 0.05;
    },
    withinMs,
    1_000,
  );
}

/** Python's json.dumps with sorted keys, for documents of ASCII. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

/** Lays a package straight on the disk; `arrays` gives the members of the manifest. */
function layPackage(root, id, { changes = {}, arrays = {} } = {}) {
  const { snapshot } = metadataOf(id, {});
  const manifest = canonical({
    format: 'pipewhy.snapshot',
    version: 1,
    array_schema_version: '1.0',
    snapshot: { ...snapshot, ...changes },
    arrays,
  });
  const target = join(root, 'snapshots', id);
  fs.mkdirSync(target, { recursive: true });
  fs.writeFileSync(join(target, 'manifest.json'), manifest);
  fs.writeFileSync(join(target, 'complete.sha256'), `${sha256(Buffer.from(manifest))}\n`);
  return target;
}

/** The digest of so many zeros. */
function digestOfZeros(length) {
  const zeros = Buffer.alloc(8 * MIB);
  const hash = createHash('sha256');
  for (let left = length; left > 0; left -= zeros.length) {
    hash.update(left < zeros.length ? zeros.subarray(0, left) : zeros);
  }
  return hash.digest('hex');
}

const get = (path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;

async function smallReads(server, id, milliseconds) {
  const times = [];
  const end = Date.now() + milliseconds;
  while (Date.now() < end) {
    const started = Date.now();
    const { status } = await request(`${server.url}/snapshots/${id}`, {
      signal: AbortSignal.timeout(20_000),
    });
    times.push(status === 200 ? Date.now() - started : 99_999);
    await sleep(20);
  }
  return times.sort((a, b) => a - b);
}

/** What became of one case: figures in words, and each figure that left its bound. */
class Report {
  violations = [];
  figures = [];

  /** Notes a figure; a violation where it is above the bound. */
  most(what, value, bound, unit) {
    this.figures.push(`${what} ${value} ${unit}`);
    if (value > bound) this.violations.push(`${what}: ${value} ${unit}, at most ${bound} are right`);
  }

  must(what, holds, found) {
    if (!holds) this.violations.push(`${what}; found ${found}`);
  }
}

const CASES = {
  /** One request per connection is under way, and everything of it ends with the socket. */
  async pipelined(report) {
    const server = await watchedServer('pipelined');
    const big = payloadOf(random, 24 * MIB);
    report.must('the publish is 201', (await publish(server.url, ID, { big })).status === 201, 'another');
    await request(`${server.url}/snapshots/${ID}`);
    const requests = get(`/snapshots/${ID}/array-big.bin`).repeat(600);
    for (const connections of [1, 5]) {
      await sleep(500);
      server.reset();
      const descriptors = server.descriptors();
      const before = server.memoryMiB();
      const sockets = await Promise.all(
        Array.from({ length: connections }, () => connection(server.port, requests, { paused: true })),
      );
      await sleep(6_000);
      const name = `${connections} x ${Math.round(requests.length / KIB)} KiB pipelined`;
      report.most(
        `${name}: memory grew by`,
        Math.max(0, server.peakMiB() - before),
        100 + 50 * connections,
        'MiB',
      );
      report.most(`${name}: loop held`, server.loopHeldMs(), 300, 'ms');
      if (server.killed()) break;
      const held = server.descriptors() - descriptors;
      for (const socket of sockets) socket.destroy();
      await until(() => server.descriptors() <= descriptors, 5_000);
      report.figures.push(`descriptors while there ${held}`);
      report.most('descriptors 5 s after they left', server.descriptors() - descriptors, 2, 'more');
    }
    if (!server.killed()) await ordered(report, server);
  },

  /** Downloads are bounded together: beyond it they are refused, and nothing is held for those. */
  async downloads(report) {
    const server = await watchedServer('downloads');
    const big = payloadOf(random, 12 * MIB);
    report.must('the publish is 201', (await publish(server.url, ID, { big })).status === 201, 'another');
    server.reset();
    const before = server.memoryMiB();
    const sockets = [];
    for (let number = 0; number < 1000 && !server.killed(); number += 1) {
      const socket = await connection(server.port, get(`/snapshots/${ID}/array-big.bin`), { paused: true });
      socket.on('error', () => undefined);
      sockets.push(socket);
      if (number % 50 === 49) await sleep(50);
    }
    await idle(server, 60_000);
    const grew = Math.max(0, server.peakMiB() - before);
    report.most('1,000 connections that read nothing of 12 MiB: memory grew by', grew, 700, 'MiB');
    report.figures.push(`${server.descriptors()} descriptors`);
    if (server.killed()) return;
    const health = await request(`${server.url}/healthz`);
    report.must('a probe is answered meanwhile', health.status === 200, health.status);
    for (const socket of sockets) socket.destroy();
    const again = await request(`${server.url}/snapshots/${ID}`);
    report.must('a read is answered after they left', again.status === 200, again.status);
  },

  /** Listings are written as they are read. */
  async listings(report) {
    const server = await watchedServer('listings');
    const count = 600;
    for (let number = 1; number <= count; number += 1) {
      layPackage(server.root, idOf(number), { changes: { scope: String(number % 10).repeat(1_000_000) } });
    }
    for (const [readers, paused] of [
      [1, false],
      [12, false],
      [12, true],
    ]) {
      // prettier-ignore
      server.reset();
      const before = server.memoryMiB();
      const name = `${readers} ${paused ? 'unread ' : ''}listing${readers > 1 ? 's' : ''} of ${count} x 1 MB`;
      if (paused) {
        const sockets = await Promise.all(
          Array.from({ length: readers }, () => connection(server.port, get('/snapshots'), { paused: true })),
        );
        await sleep(5_000);
        for (const socket of sockets) socket.destroy();
      } else {
        const ends = await Promise.all(Array.from({ length: readers }, () => readListing(server)));
        const right = ends.filter(({ status, entries, next }) => status === 200 && (entries === count || next)).length; // prettier-ignore
        const refused = ends.filter(({ status }) => status === 503).length;
        report.figures.push(`${right} whole, ${refused} refused`);
        report.must(`${name}: each is whole, or says next, or is 503`, right > 0 && right + refused === readers, JSON.stringify(ends)); // prettier-ignore
      }
      report.most(`${name}: memory grew by`, Math.max(0, server.peakMiB() - before), 400, 'MiB');
      if (server.killed()) break;
    }
  },

  /** So are listings of what never was published. */
  async incomplete(report) {
    const server = await watchedServer('incomplete');
    const count = 20_000;
    for (let number = 0; number < count; number += 1) {
      fs.mkdirSync(join(server.root, 'staging', `${'x'.repeat(200)}-${number}`));
    }
    server.reset();
    const before = server.memoryMiB();
    const sockets = await Promise.all(
      Array.from({ length: 12 }, () => connection(server.port, get('/incomplete'), { paused: true })),
    );
    await sleep(5_000);
    report.most(`12 unread listings of ${count} attempts: memory grew by`, Math.max(0, server.peakMiB() - before), 300, 'MiB'); // prettier-ignore
    report.most('loop held', server.loopHeldMs(), 500, 'ms');
    for (const socket of sockets) socket.destroy();
  },

  /** A proof that nobody waits for any more ends. */
  async proofs(report) {
    const server = await watchedServer('proofs');
    const length = gib * 1024 * MIB;
    const target = layPackage(server.root, ID, {
      arrays: {
        big: {
          file: 'array-big.bin',
          dtype: 'uint8',
          count: String(length),
          byte_length: String(length),
          endianness: 'little',
          sha256: digestOfZeros(length),
        },
      },
    });
    // A sparse file: no disk, but all the hashing.
    fs.writeFileSync(join(target, 'array-big.bin'), '');
    fs.truncateSync(join(target, 'array-big.bin'), length);
    report.must('the publish is 201', (await publish(server.url, idOf(2), { ids: Buffer.from([1]) })).status === 201, 'another'); // prettier-ignore
    for (let number = 0; number < 40; number += 1) {
      const path = number % 2 === 0 ? `/snapshots/${ID}/array-big.bin` : `/snapshots/${ID}`;
      const socket = await connection(server.port, get(path));
      await sleep(20);
      socket.destroy();
    }
    await sleep(500);
    const cpu = server.cpuSeconds();
    const times = await smallReads(server, idOf(2), 4_000);
    report.most(`40 aborted reads of ${gib} GiB: CPU in the 4 s from half a second after the last`, Math.round((server.cpuSeconds() - cpu) * 10) / 10, 1.5, 's'); // prettier-ignore
    report.most('a small read meanwhile, at the worst', times.at(-1), 500, 'ms');
    const head = () =>
      request(`${server.url}/snapshots/${ID}/array-big.bin`, {
        method: 'HEAD',
        signal: AbortSignal.timeout(120_000),
      });
    // Not counted: the first reader brings the file into memory.
    await head();
    const once = await cpuOf(server, head);
    let readers = [];
    const together = await cpuOf(server, async () => {
      readers = await Promise.all([head(), head(), head(), head()]);
    });
    report.must('all four readers are answered', readers.every(({ status }) => status === 200), readers.map(({ status }) => status)); // prettier-ignore
    report.most(
      'four readers at once, in proofs of one',
      Math.round((together / once) * 10) / 10,
      2,
      'times',
    );
  },

  /** Part headers cost what they weigh. */
  async 'part-headers'(report) {
    const server = await watchedServer('part-headers');
    const parts = (line, count) =>
      Array.from({ length: 256 }, (_, at) => `--b\r\nContent-Disposition: form-data; name="p${at}"\r\n${line.repeat(count)}\r\nx\r\n`).join(''); // prettier-ignore
    const bodies = {
      '4 MB of a: lines in 256 parts': parts('a:\r\n', 4000),
      '4 MB of parameters in 256 parts': Array.from({ length: 256 }, (_, at) => `--b\r\nContent-Disposition: form-data; name="p${at}"${';a=b'.repeat(4000)}\r\n\r\nx\r\n`).join(''), // prettier-ignore
      '4 MB of media type parameters': Array.from({ length: 256 }, (_, at) => `--b\r\nContent-Disposition: form-data; name="p${at}"\r\nContent-Type: a/b${';a=b'.repeat(4000)}\r\n\r\nx\r\n`).join(''), // prettier-ignore
      '4 MB of folded lines': parts('a:b\r\n c\r\n', 1600),
    };
    const arrays = Object.fromEntries(Array.from({ length: 256 }, (_, at) => [`p${at}`, Buffer.alloc(0)]));
    const metadata = `--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n${JSON.stringify(metadataOf(ID, arrays))}\r\n`;
    await exchange(server.port, get('/healthz'), 500);
    for (const [name, body] of Object.entries(bodies)) {
      await sleep(300);
      server.reset();
      const cpu = server.cpuSeconds();
      const whole = `${metadata}${body}--b--\r\n`;
      const answer = await exchange(
        server.port,
        `POST /snapshots HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${whole.length}\r\n\r\n${whole}`,
        30_000,
      );
      await sleep(200);
      report.most(`${name}: CPU`, Math.round((server.cpuSeconds() - cpu) * 10) / 10, 1, 's');
      report.most('loop held', server.loopHeldMs(), 200, 'ms');
      const [status] = statusesOf(answer);
      report.must(`${name}: it is answered`, status !== undefined && status < 500, status);
    }
  },

  /** A guard that a header feeds sees that header wherever it stands. */
  async 'header-lines'(report) {
    const server = await watchedServer('header-lines');
    const ids = Buffer.from([1, 2, 3]);
    report.must('the publish is 201', (await publish(server.url, ID, { ids })).status === 201, 'another');
    const lines = 'a:\r\n'.repeat(2_500);
    const reads = {
      Origin: ['Origin: http://evil.example', [403]],
      'second Host': ['Host: evil.example', [400, 403]],
      'If-Match': ['If-Match: "other"', [412]],
      'If-None-Match': ['If-None-Match: *', [304]],
      Range: ['Range: bytes=99-', [416]],
    };
    let tried = 0;
    const check = (name, statuses, right) => {
      tried += 1;
      // 431: what does not fit is refused as a whole.
      const [status] = statuses;
      report.must(`behind 2,500 header lines ${name} still counts`, [...right, 400, 431].includes(status), statuses.join() || 'no answer'); // prettier-ignore
    };
    for (const [name, [line, right]] of Object.entries(reads)) {
      const text = await exchange(server.port, `GET /snapshots/${ID}/array-ids.bin HTTP/1.1\r\n${HOST}${lines}${line}\r\nConnection: close\r\n\r\n`, 2_000); // prettier-ignore
      check(name, statusesOf(text), right);
    }
    const writes = {
      'Content-Digest': [`Content-Digest: sha-256=:${'A'.repeat(43)}=:`, [400, 422]],
      'Content-Encoding': ['Content-Encoding: gzip', [415]],
      Expect: ['Expect: something-else', [417]],
      Origin: ['Origin: http://evil.example', [403]],
    };
    let number = 100;
    for (const [name, [line, right]] of Object.entries(writes)) {
      const id = idOf((number += 1));
      const body = `--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n${JSON.stringify(metadataOf(id, { ids }))}\r\n--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\nabc\r\n--b--\r\n`; // prettier-ignore
      const start = `POST /snapshots HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n`; // prettier-ignore
      check(`${name} of an upload`, statusesOf(await exchange(server.port, `${start}${lines}${line}\r\n\r\n${body}`, 3_000)), right); // prettier-ignore
    }
    const framing = await exchange(server.port, `POST /snapshots HTTP/1.1\r\n${HOST}${lines}Content-Length: ${get('/healthz').length}\r\n\r\n${get('/healthz')}`, 2_000); // prettier-ignore
    tried += 1;
    report.must('a body behind 2,500 lines is no next request', !statusesOf(framing).includes(200), statusesOf(framing)); // prettier-ignore
    report.figures.push(`${tried} guards behind 2,500 lines`);
  },

  /** Uploads that drip do not keep others out. */
  async drips(report) {
    const server = await watchedServer('drips', ['--idle-seconds', '5']);
    const start = `POST /snapshots HTTP/1.1\r\n${HOST}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 64 }, (_, number) => connection(server.port, `${start}--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n${JSON.stringify(metadataOf(idOf(1000 + number), { ids: Buffer.alloc(0) }))}\r\n--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\n`)), // prettier-ignore
    );
    for (const socket of sockets) socket.on('error', () => undefined);
    await sleep(500);
    const drip = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed && socket.writable) socket.write('x');
    }, 1_000);
    const started = Date.now();
    let number = 0;
    const entered = await until(
      async () => (await publish(server.url, idOf(5000 + (number += 1)), { ids: Buffer.from([1]) })).status === 201, // prettier-ignore
      90_000,
      1_000,
    );
    clearInterval(drip);
    report.most(
      '64 uploads of a byte a second: the next upload was in after',
      entered ? Math.round((Date.now() - started) / 1000) : 999,
      75,
      's',
    );
    for (const socket of sockets) socket.destroy();
  },

  /** The client believes no length, no shape and no cursor. */
  async client(report) {
    const { SnapshotClient } = await import('../../dist/src/client/index.js');
    const id = ID;
    const manifest = canonical({
      format: 'pipewhy.snapshot',
      version: 1,
      array_schema_version: '1.0',
      snapshot: metadataOf(id, {}).snapshot,
      arrays: { ids: { file: 'array-ids.bin', dtype: 'int32', count: '3', byte_length: '12', endianness: 'little', sha256: sha256(Buffer.alloc(12)) } }, // prettier-ignore
    });
    const digest = (bytes) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
    let sent = 0;
    let requests = 0;
    let mode = '';
    const entry = {
      snapshot_id: id,
      parent_id: null,
      source_namespace: 'n',
      source_version: 'v',
      scope: 's',
      resolution: 'record',
      coverage_status: 'COMPLETE',
      started_at_ns: '1',
      finished_at_ns: '2',
      array_count: 1,
      byte_length: '12',
      manifest_sha256: sha256(Buffer.from(manifest)),
    };
    const service = http.createServer((asked, answer) => {
      requests += 1;
      const path = asked.url.split('?')[0];
      const endless = (type) => {
        const bytes = type.endsWith('json') ? Buffer.from(manifest) : Buffer.alloc(12);
        answer.writeHead(200, {
          'content-type': type,
          'repr-digest': digest(bytes),
          etag: `"${sha256(bytes)}"`,
          'array-dtype': 'int32',
          'array-count': '3',
          'array-endianness': 'little',
        });
        const piece = Buffer.alloc(256 * KIB, 32);
        const more = () => {
          while (!answer.destroyed && sent < GUARD) {
            sent += piece.length;
            if (!answer.write(piece)) return void answer.once('drain', more);
          }
          answer.destroy();
        };
        more();
      };
      const json = (document) => {
        answer.writeHead(200, { 'content-type': 'application/json' });
        answer.end(JSON.stringify(document));
      };
      if (path === `/snapshots/${id}`) {
        if (mode === 'endless manifest') return endless('application/json');
        answer.writeHead(200, { 'content-type': 'application/json', 'repr-digest': digest(manifest), etag: `"${sha256(Buffer.from(manifest))}"` }); // prettier-ignore
        return answer.end(manifest);
      }
      if (path.endsWith('.bin')) return endless('application/octet-stream');
      if (mode.startsWith('endless')) return endless('application/json');
      if (mode === 'looping cursor') return json({ snapshots: [entry], incomplete: [], next: id });
      if (mode === 'cursors for ever') return json({ snapshots: [{ ...entry, snapshot_id: idOf(requests) }], incomplete: [], next: idOf(requests) }); // prettier-ignore
      if (mode === 'empty pages for ever')
        return json({ snapshots: [], incomplete: [], next: idOf(requests) });
      return json(SHAPES[mode] ?? {});
    });
    const SHAPES = {
      'an entry without numbers': { snapshots: [{ snapshot_id: id }], next: null },
      'an entry that is null': { snapshots: [null], next: null },
      'numbers as numbers': { snapshots: [{ ...entry, started_at_ns: 1, byte_length: 12 }], next: null },
      'a number below zero': { snapshots: [{ ...entry, byte_length: '-1' }], next: null },
      'an id that is none': { snapshots: [{ ...entry, snapshot_id: '../x' }], next: null },
      'no list': { snapshots: 'abc', next: null },
      'a cursor that is a number': { snapshots: [], next: 7 },
      'an attempt without a path': { incomplete: [{}], next: null },
    };
    await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
    let client;
    /** A client of its own for each call: no connection of the call before is left to it. */
    const withClient = async (call, withinMs) => {
      client = new SnapshotClient({ baseUrl: `http://127.0.0.1:${service.address().port}`, retry: false });
      const end = await endOf(call, withinMs);
      service.closeAllConnections();
      await Promise.race([client.close(), sleep(1_000)]);
      return end;
    };
    const calls = {
      array: () => client.array(id, 'ids'),
      open: () => client.open(id),
      stream: () => drain(client.streamArray(id, 'ids')),
      'endless manifest': () => client.manifest(id),
      'endless listing': () => client.listPage(),
      'endless health': () => client.health(),
      'endless contexts': () => client.contexts(),
    };
    for (const [name, call] of Object.entries(calls)) {
      mode = name;
      sent = 0;
      const end = await withClient(call, 20_000);
      report.most(
        `${name}: of an endless body was taken`,
        Math.round(sent / MIB),
        mode === 'endless listing' ? 300 : 80,
        'MiB',
      );
      report.must(`${name}: it ends with an error of the client`, end.startsWith('refused'), end);
      report.figures.push(end);
    }
    for (const name of Object.keys(SHAPES)) {
      mode = name;
      const method = name.includes('attempt') ? 'incomplete' : 'list';
      const end = await withClient(() => drain(client[method]()), 5_000);
      report.must(`${name}: it ends with an error of the client`, end.startsWith('refused'), end);
    }
    for (const name of ['looping cursor', 'empty pages for ever']) {
      mode = name;
      requests = 0;
      const end = await withClient(() => drain(client.list(), 5_000), 5_000);
      report.must(`${name}: it ends with an error of the client`, end.startsWith('refused'), `${end} after ${requests} pages`); // prettier-ignore
    }
    report.figures.push(`${Object.keys(SHAPES).length} wrong shapes`);
    service.close();
  },
};

/** Requests in one write are answered in their order, each over what the one before left (RFC 9112, 9.3.2). */
async function ordered(report, server) {
  let wrong = 0;
  let found = '';
  for (let number = 0; number < 50; number += 1) {
    const id = idOf(9000 + number);
    const body = `--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n${JSON.stringify(metadataOf(id, {}))}\r\n--b--\r\n`;
    const post = `POST /snapshots HTTP/1.1\r\n${HOST}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n${body}`; // prettier-ignore
    const text = await exchange(server.port, `${post}GET /snapshots/${id} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 5_000); // prettier-ignore
    const statuses = statusesOf(text).join();
    if (statuses !== '201,200') {
      wrong += 1;
      found = statuses;
    }
  }
  report.most('POST and GET of it in one write, not 201 and 200', wrong, 0, `of 50 ${found}`);
}

/** Counts the entries of a listing as it comes, and keeps nothing. */
function readListing({ port }) {
  return new Promise((resolve) => {
    const asked = http.get({ host: '127.0.0.1', port, path: '/snapshots', agent: false }, (answer) => {
      let entries = 0;
      let tail = '';
      answer.on('data', (chunk) => {
        const text = tail + chunk.toString('latin1');
        entries += text.split('"snapshot_id"').length - tail.split('"snapshot_id"').length;
        tail = text.slice(-200);
      });
      answer.on('error', (error) => resolve({ status: `${answer.statusCode} and ${error.code}`, entries }));
      answer.on('end', () => resolve({ status: answer.statusCode, entries, next: /"next":"[^"]+"\}?\s*$/u.test(tail) })); // prettier-ignore
    });
    asked.on('error', (error) => resolve({ status: error.code, entries: 0 }));
    asked.setTimeout(120_000, () => asked.destroy());
  });
}

async function cpuOf(server, work) {
  const before = server.cpuSeconds();
  await work();
  return server.cpuSeconds() - before;
}

/** Takes at most so many of what an iteration gives. */
async function drain(iteration, most = Infinity) {
  for (let taken = 0; taken < most; taken += 1) if ((await iteration.next()).done) return;
}

/** How a call of the client ends: in one of its errors, in another, well, or not at all. */
async function endOf(call, withinMs) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(`nothing within ${withinMs} ms`), withinMs);
  });
  const end = call().then(
    () => 'success',
    (error) => (typeof error?.code === 'string' ? `refused as ${error.code}` : `${error?.name}: ${error?.message}`), // prettier-ignore
  );
  const result = await Promise.race([end, late]);
  clearTimeout(timer);
  return result;
}

const names = cases === '' ? Object.keys(CASES) : cases.split(',');
for (const name of names) {
  const report = new Report();
  try {
    await CASES[name](report);
  } catch (error) {
    report.violations.push(`the case ended early: ${error.stack}`);
  }
  for (const server of started.splice(0)) {
    if (server.killed()) report.violations.push('the service took more than 3 GiB and was killed');
    await server.kill();
  }
  summary(`hostile: ${name}`, report.figures.join('; '), report.violations);
  fs.rmSync(join(directory, name), { recursive: true, force: true });
}
finish();
