/**
 * Kills the real server at every system call of a publication that writes, syncs, renames, opens, closes or answers, and
 * looks at what a restart over the same root finds.
 *
 *     node test/campaigns/kill-everywhere.mjs [--seed 1] [--seconds 300]
 *
 * A publication is traced once to count the calls of each thread; then one publication per call is killed just before it,
 * in an order that depends on the seed. Of a large publication every third call is taken. Needs strace. Exits 1 on a
 * violation.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {
  checkRoot,
  finish,
  flagsOf,
  hasCommand,
  idOf,
  payloadOf,
  publish,
  randomOf,
  request,
  skipped,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, seconds } = flagsOf({ seed: 1, seconds: 300 });
const CALLS = ['mkdir', 'openat', 'write', 'pwrite64', 'writev', 'fsync', 'fdatasync', 'rename', 'close'];
// One thread each for the disk and for proofs: strace counts the calls of every thread by itself.
const SERVER = { env: { UV_THREADPOOL_SIZE: '1' }, flags: ['--threads', '1'] };

const random = randomOf(seed);
const SIZES = {
  small: {
    arrays: { a: payloadOf(random, 100), b: payloadOf(random, 5000), c: payloadOf(random, 0) },
    every: 1,
  },
  large: { arrays: { a: payloadOf(random, 3 * 1024 * 1024), b: payloadOf(random, 10) }, every: 3 },
};

const work = temporaryDirectory();
const until = Date.now() + seconds * 1000;
await main();
finish();

async function main() {
  if (process.platform !== 'linux' || !hasCommand('strace', ['-V'])) {
    skipped('killed at every call', 'strace is not installed');
    return;
  }
  for (const [size, { arrays, every }] of Object.entries(SIZES)) {
    const root = path.join(work, size);
    let points;
    try {
      points = await killingPoints(root, arrays);
    } catch (error) {
      skipped(`killed at every call, ${size}`, error.message);
      continue;
    }
    await killAt(size, root, arrays, shuffled(points.filter((_, index) => index % every === 0)));
  }
}

async function killAt(size, root, arrays, points) {
  const violations = [];
  const acknowledged = new Map();
  const found = { 'complete and answered': 0, 'complete, unanswered': 0, absent: 0 };
  const killed = new Map(CALLS.map((call) => [call, 0]));
  let tried = 0;
  let survived = 0;
  let server = await startServer(root, SERVER);
  for (const point of points) {
    // The small publication is the more telling one; the large one gets the rest of the time.
    if (tried > 0 && Date.now() > until - (size === 'small' ? (seconds * 1000) / 4 : 0)) break;
    tried += 1;
    const id = idOf(0x1000 + tried);
    const report = (text) =>
      violations.push(`${size}, ${point.call} ${point.when} of thread ${point.thread}, ${id}: ${text}`);

    const tracer = await attach(threadsOf(server.pid)[point.thread], [
      ...['-e', `trace=${point.call}`],
      ...['-e', `inject=${point.call}:signal=SIGKILL:when=${point.when}`],
    ]);
    const answer = await publish(server.url, id, arrays);
    if (answer.status === 201) acknowledged.set(id, answer.sha256);
    else if (answer.status !== 0) report(`the publication was answered ${answer.status}`);
    // An answered server may still be about to reach the call.
    const died = await Promise.race([server.ended.then(() => true), later(answer.status === 0 ? 5000 : 50)]);
    if (died) {
      killed.set(point.call, killed.get(point.call) + 1);
    } else {
      survived += 1;
      if (answer.status === 0) report('no answer, and the server lives on');
    }
    await tracer.detach();
    // Also those that lived on end by SIGKILL, after their answer.
    await server.kill();

    server = await startServer(root, SERVER);
    const state = await judge(server.url, id, arrays, acknowledged, report);
    found[
      state === 'complete' ? `complete${answer.status === 201 ? ' and answered' : ', unanswered'}` : state
    ] += 1;
  }
  await server.kill();
  const calls = CALLS.filter((call) => killed.get(call) > 0).map((call) => `${killed.get(call)} ${call}`);
  console.error(`  ${size}: ${JSON.stringify(found)}`);
  summary(
    `killed at every call, ${size}`,
    `${tried} of ${points.length} calls (${calls.join(', ')}; ${survived} after the answer)`,
    violations,
  );
}

/** Complete or absent, acknowledged means present, and publishing again gives 409 or 201 accordingly. */
async function judge(url, id, arrays, acknowledged, report) {
  const listed = await checkRoot(url, acknowledged, report);
  const read = await request(`${url}/snapshots/${id}`);
  const complete = read.status === 200;
  if (!complete && read.status !== 404) report(`after the restart it answers ${read.status}`);
  if (listed !== null && listed.has(id) !== complete) report('the listing and the snapshot disagree');
  const again = await publish(url, id, arrays);
  if (again.status !== (complete ? 409 : 201)) {
    report(
      `publishing again answers ${again.status}, after ${read.status}: ${again.bytes?.toString().slice(0, 300)}`,
    );
  }
  if (complete && again.status === 409 && again.json().manifest_sha256 !== read.sha256) {
    report(`publishing again names the manifest ${again.json().manifest_sha256}, stored is ${read.sha256}`);
  }
  acknowledged.set(id, complete ? read.sha256 : again.sha256);
  for (const [key, bytes] of Object.entries(arrays)) {
    const stored = await request(`${url}/snapshots/${id}/array-${key}.bin`);
    if (stored.status !== 200 || !stored.bytes.equals(bytes))
      report(`array ${key} answers ${stored.status}, or other bytes`);
  }
  return complete ? 'complete' : 'absent';
}

/** Every call of one publication, as `{ thread, call, when }`: the thread by its rank, `when` from 1. */
async function killingPoints(root, arrays) {
  const server = await startServer(root, SERVER);
  const trace = path.join(work, 'trace');
  const threads = threadsOf(server.pid);
  const tracer = await attach(server.pid, ['-f', '-o', trace, '-e', `trace=${CALLS.join(',')}`]);
  const { status } = await publish(server.url, idOf(1), arrays);
  await tracer.detach();
  await server.kill();
  if (status !== 201) throw new Error(`a traced publication is answered ${status}`);
  const points = [];
  const counts = new Map();
  for (const line of fs.readFileSync(trace, 'utf8').split('\n')) {
    const [, pid, call] = /^(\d+) +(\w+)\(/u.exec(line) ?? [];
    if (!CALLS.includes(call)) continue;
    const key = `${pid} ${call}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    points.push({ thread: threads.indexOf(pid), call, when: counts.get(key) });
  }
  // And once after everything, answer included: a call that never comes.
  points.push({ thread: 0, call: 'rename', when: 1000 });
  return points;
}

/** In the order in which they were made, which is the same for every server. */
function threadsOf(pid) {
  return fs.readdirSync(`/proc/${pid}/task`).sort((a, b) => a - b);
}

function attach(pid, flags) {
  const tracer = spawn('strace', ['-p', String(pid), ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => {
    tracer.once('close', resolve);
  });
  return new Promise((resolve, reject) => {
    let said = '';
    tracer.stderr.on('data', (data) => {
      said += data;
      if (!/ attached/u.test(said)) return;
      resolve({
        detach: async () => {
          tracer.kill('SIGINT');
          await ended;
        },
      });
    });
    tracer.once('error', reject);
    tracer.once('close', () => reject(new Error(`strace cannot attach: ${said.trim()}`)));
  });
}

function later(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), milliseconds);
  });
}

function shuffled(list) {
  const rest = [...list];
  return list.map(() => rest.splice(Math.floor(random() * rest.length), 1)[0]);
}
