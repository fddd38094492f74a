/** What the campaigns share: flags, repeatable randomness, the real server as a process, a client, and the summary. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const COMMAND = fileURLToPath(new URL('../../dist/src/cli/entry.cjs', import.meta.url));

/** Flags by their defaults: numbers must be given as whole numbers, other values as they are. */
export function flagsOf(defaults) {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]));
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
  return Object.fromEntries(
    Object.entries(defaults).map(([name, preset]) => {
      const given = values[name];
      if (given === undefined) return [name, preset];
      if (typeof preset !== 'number') return [name, given];
      if (/^\d+$/u.test(given)) return [name, Number(given)];
      console.error(`--${name} must be a whole number, found ${JSON.stringify(given)}.`);
      process.exit(2);
    }),
  );
}

/** Uniform numbers in [0, 1) from a 32-bit seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

let failures = 0;

/** One line per campaign on standard output, `campaign | tried | violations`; the violations themselves go to stderr. */
export function summary(campaign, tried, violations) {
  for (const violation of violations.slice(0, 20)) console.error(`  violation: ${violation}`);
  if (violations.length > 20) console.error(`  and ${violations.length - 20} more`);
  failures += violations.length;
  console.log(`${campaign} | ${tried} | ${violations.length}`);
}

/** For what this machine cannot do: says why, and is no failure. */
export function skipped(campaign, why) {
  console.log(`${campaign} | skipped: ${why} | 0`);
}

export function finish() {
  process.exit(failures > 0 ? 1 : 0);
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export function hasCommand(name, args = ['--version']) {
  return spawnSync(name, args, { stdio: 'ignore' }).error === undefined;
}

/** A directory that is removed when the campaign ends. */
export function temporaryDirectory() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pipewhy-campaign-'));
  process.on('exit', () => {
    fs.rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

const running = new Set();
process.on('exit', () => {
  for (const child of running) killGroup(child);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/**
 * Starts the real server over `root` on a free port. `under` is a command to run it with, such as strace and its flags.
 * Resolves to its URL, the process id of the server itself, and `kill`, which ends it as SIGKILL does.
 */
export async function startServer(root, { under = [], env = {}, flags = [] } = {}) {
  const command = [
    ...under,
    process.execPath,
    COMMAND,
    'serve',
    '--root',
    root,
    '--port',
    '0',
    '--log-level',
    'error',
    '--max-uploads',
    '1000',
    ...flags,
  ];
  const child = spawn(command[0], command.slice(1), {
    // A group of its own: strace passes a SIGKILL on to nobody.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  const ended = new Promise((resolve) => {
    child.once('close', () => {
      running.delete(child);
      resolve();
    });
  });
  let log = '';
  child.stderr.on('data', (data) => {
    log = (log + data).slice(-4000);
  });
  const url = await new Promise((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (data) => {
      out += data;
      const found = /(http:\/\/\S+)\n/u.exec(out);
      if (found !== null) resolve(found[1]);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The server ended before it listened: ${log}`)));
  });
  const serverPid =
    under.length === 0
      ? child.pid
      : Number(fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  return {
    url,
    pid: serverPid,
    ended,
    log: () => log,
    kill: async () => {
      killGroup(child);
      await ended;
    },
  };
}

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A legal id from a number. */
export const idOf = (number) => number.toString(16).padStart(32, '0');

/** Bytes without a zero, so that what a disk lost never looks like what was stored. */
export function payloadOf(random, length) {
  const bytes = Buffer.alloc(length);
  let state = Math.floor(random() * 2 ** 31) | 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    bytes[at] = 1 + ((state >>> 16) % 255);
  }
  return bytes;
}

/** The metadata document of uint8 arrays; `note` distinguishes snapshots of one id. */
export function metadataOf(id, arrays, { parent = null, note = 'campaign' } = {}) {
  return {
    snapshot: {
      snapshot_id: id,
      parent_id: parent,
      source_namespace: 'campaign',
      source_version: note,
      source_consistency: 'single-query',
      scope: 'all rows',
      started_at_ns: '1',
      finished_at_ns: '2',
      resolution: 'record',
      coverage: { status: 'COMPLETE', expected_records: '1', returned_records: '1', failure_reasons: [] },
      fingerprint: {
        algorithm_name: 'example-fingerprint',
        algorithm_id: 'example-fingerprint/1',
        context_id: 'example-context',
        normalization_profile_id: 'example-normalization/1',
        source_schema_id: 'example-schema/1',
        mode: 'ordered',
      },
    },
    arrays: Object.fromEntries(Object.keys(arrays).map((key) => [key, { dtype: 'uint8' }])),
  };
}

/**
 * Publishes over HTTP. Resolves to `{ status, body, sha256 }`, or to `{ status: 0 }` where no answer came: then nobody
 * knows whether the snapshot is published.
 */
export async function publish(url, id, arrays, options = {}) {
  const form = new FormData();
  form.set('metadata', new Blob([JSON.stringify(metadataOf(id, arrays, options))]));
  for (const [key, bytes] of Object.entries(arrays)) form.set(key, new Blob([bytes]), `array-${key}.bin`);
  return request(`${url}/snapshots`, {
    method: 'POST',
    body: form,
    ...(options.signal && { signal: options.signal }),
  });
}

/** One request with its whole answer; no answer at all is status 0. */
export async function request(url, init = {}) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000), ...init });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, bytes, sha256: sha256(bytes), json: () => JSON.parse(bytes.toString()) };
  } catch (error) {
    return { status: 0, error };
  }
}

/**
 * What every start over a used root must give: a listing that proves everything acknowledged, and /incomplete.
 * `acknowledged` maps ids to manifest digests. Returns the listed digests by id, or null where there is no listing.
 */
export async function checkRoot(url, acknowledged, report) {
  const listing = await request(`${url}/snapshots`);
  if (listing.status !== 200)
    report(`the listing answers ${listing.status}: ${listing.bytes?.toString().slice(0, 500)}`);
  const incomplete = await request(`${url}/incomplete`);
  if (incomplete.status !== 200) report(`/incomplete answers ${incomplete.status}`);
  else {
    for (const { phase, path: attempt } of incomplete.json().incomplete) {
      if (phase === 'UNAVAILABLE') report(`${attempt} cannot be read`);
    }
  }
  if (listing.status !== 200) {
    // Without a listing each acknowledged snapshot is asked for by itself, so that all losses are named.
    for (const [id, digest] of acknowledged) {
      const read = await request(`${url}/snapshots/${id}`);
      if (read.sha256 !== digest) report(`${id} was acknowledged and answers ${read.status}`);
    }
    return null;
  }
  const listed = new Map(listing.json().snapshots.map((one) => [one.snapshot_id, one.manifest_sha256]));
  for (const [id, digest] of acknowledged) {
    if (listed.get(id) !== digest) report(`${id} was acknowledged and is ${listed.get(id) ?? 'absent'}`);
  }
  return listed;
}
