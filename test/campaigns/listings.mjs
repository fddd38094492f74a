/**
 * Listings of many and of large snapshots: memory, first byte and hold of the event loop while several go out at once.
 *
 *     npm run build && node test/campaigns/listings.mjs [--many 100000] [--large 600] [--at 4] [--parent /dev/shm]
 *
 * Violations: more than 400 MiB beyond what the service held before (the small) or 600 MiB in all (the large), a first byte
 * after more than 2 s, or an answer that is not whole. The longest hold of the event loop is told, not judged.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { finish, flagsOf, idOf, metadataOf, sha256, sleep, startServer, summary } from './support.mjs';

const { many, large, at, parent } = flagsOf({ many: 100_000, large: 600, at: 4, parent: os.tmpdir() });
const MIB = 1024 * 1024;

/** Sorted keys, no blanks: canonical for the ASCII that is written here. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

function fill(root, count, scope) {
  for (const room of ['snapshots', 'staging']) fs.mkdirSync(path.join(root, room), { recursive: true });
  for (let number = 1; number <= count; number += 1) {
    const id = idOf(number);
    const { snapshot } = metadataOf(id, {});
    const manifest = Buffer.from(
      canonical({
        format: 'pipewhy.snapshot',
        version: 1,
        array_schema_version: '1.0',
        snapshot: { ...snapshot, scope },
        arrays: {},
      }),
    );
    const directory = path.join(root, 'snapshots', id);
    fs.mkdirSync(directory);
    fs.writeFileSync(path.join(directory, 'manifest.json'), manifest);
    fs.writeFileSync(path.join(directory, 'complete.sha256'), `${sha256(manifest)}\n`);
  }
}

function memory(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1] ?? 0) * 1024;
}

async function list(url, query, report) {
  const started = performance.now();
  const answer = await fetch(`${url}/snapshots${query}`);
  let first = null;
  let entries = 0;
  let last = '';
  try {
    for await (const chunk of answer.body) {
      first ??= performance.now() - started;
      const text = Buffer.from(chunk).toString('latin1');
      entries += (last.slice(-20) + text).split('"manifest_sha256"').length - 1;
      entries -= last.slice(-20).split('"manifest_sha256"').length - 1;
      last = (last + text).slice(-40);
    }
  } catch (error) {
    report(`${query}: the answer broke off: ${error.message}`);
  }
  if (!last.endsWith('],"next":null}'))
    report(`${query}: status ${answer.status}, an end that is none: ${last}`);
  return { first: Math.round(first ?? 0), ms: Math.round(performance.now() - started), entries };
}

async function measure(name, count, scope, queries, bound) {
  const root = fs.mkdtempSync(path.join(parent, 'listings-'));
  const violations = [];
  try {
    fill(root, count, scope);
    const server = await startServer(root);
    const { url } = server;
    const pid = server.pid ?? server.child.pid;
    await fetch(`${url}/snapshots?limit=1&proof=frame`);
    const before = memory(pid);
    for (const query of queries) {
      let peak = 0;
      const watch = setInterval(() => (peak = Math.max(peak, memory(pid))), 20);
      await fetch(`${url}/metrics`).then((answer) => answer.text());
      const ended = await Promise.all(
        Array.from({ length: at }, () => list(url, query, (what) => violations.push(what))),
      );
      clearInterval(watch);
      const metrics = await fetch(`${url}/metrics`).then((answer) => answer.text());
      const hold = Number(/^nodejs_eventloop_lag_max_seconds (\S+)/mu.exec(metrics)?.[1] ?? 0);
      const first = Math.max(...ended.map((one) => one.first));
      if (ended.some((one) => one.entries !== count))
        violations.push(`${query}: ${ended.map((one) => one.entries)} entries`);
      if (first > 2000 && query.includes('frame') && !query.includes('newest'))
        violations.push(`${query}: first byte after ${first} ms`);
      if (bound(before, peak)) violations.push(`${query}: ${Math.round(peak / MIB)} MiB`);
      console.error(
        `  ${at} x ${count} ${name} ${query || '(all)'}: before ${Math.round(before / MIB)}, peak ${Math.round(peak / MIB)} MiB, ` +
          `first byte ${first} ms, whole ${Math.max(...ended.map((one) => one.ms))} ms, loop held ${Math.round(hold * 1000)} ms`,
      );
      await sleep(200);
    }
    await server.kill();
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
  summary(`listings: ${name}`, `${at} at once of ${count}`, violations);
}

await measure(
  'small',
  many,
  'all rows',
  ['?proof=frame', '?proof=frame&order=newest'],
  (before, peak) => peak - before > 400 * MIB,
);
await measure('with 1 MB scopes', large, 'x'.repeat(1_000_000), [''], (_, peak) => peak > 600 * MIB);
finish();
