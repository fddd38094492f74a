/**
 * Two snapshots of one large array, compared by the service: time beside `cmp` and proving both, and memory.
 *
 *     npm run build && node test/campaigns/comparison.mjs [--mib 1024] [--rounds 3] [--parent /dev/shm]
 *
 * The arrays differ in their last element, so that `cmp` has to read all of both. Violations: more than 250 MiB in all, by
 * position or by key; more than 1.5 times the time of `cmp` and of proving both, in the best round of each; a wrong answer.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { LocalSnapshotStore, parseDeclarations } from '../../dist/src/index.js';
import { finish, flagsOf, idOf, metadataOf, startServer, summary } from './support.mjs';

const { mib, rounds, parent } = flagsOf({ mib: 1024, rounds: 3, parent: os.tmpdir() });
const MIB = 1024 * 1024;
const COUNT = (mib * MIB) / 8;
const IDS = [idOf(1), idOf(2)];

async function* values(last) {
  const piece = new BigUint64Array(MIB / 8);
  for (let at = 0; at < COUNT; at += piece.length) {
    for (let index = 0; index < piece.length; index += 1) piece[index] = BigInt(at + index) * 5n;
    if (at + piece.length === COUNT) piece[piece.length - 1] += last;
    yield new Uint8Array(piece.buffer.slice(0));
  }
}

function memory(pid) {
  return Number(/^VmHWM:\s+(\d+)/mu.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

async function timed(work) {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
}

const root = fs.mkdtempSync(path.join(parent, 'comparison-'));
const violations = [];
try {
  const examples = new URL('../../examples/contexts.json', import.meta.url);
  const store = new LocalSnapshotStore(root, { declarations: parseDeclarations(fs.readFileSync(examples)) });
  for (const [at, id] of IDS.entries()) {
    const ids = { dtype: 'uint64', data: values(BigInt(at)) };
    await store.publish(metadataOf(id, {}).snapshot, { ids });
  }
  await store.close();
  const server = await startServer(root);
  const files = IDS.map((id) => path.join(root, 'snapshots', id, 'array-ids.bin'));
  const compare = (query) =>
    fetch(`${server.url}/snapshots/${IDS[0]}/compare/${IDS[1]}${query}`).then((answer) => answer.json());
  const best = { cmp: Infinity, prove: Infinity, position: Infinity, key: Infinity };
  for (let round = 0; round < rounds; round += 1) {
    const cmp = await timed(() => spawnSync('cmp', ['-s', ...files]));
    const prove = await timed(() =>
      Promise.all(IDS.map((id) => fetch(`${server.url}/snapshots/${id}`).then((answer) => answer.text()))),
    );
    const position = await timed(() => compare(''));
    const key = await timed(() => compare('?key=ids'));
    for (const [name, { ms }] of Object.entries({ cmp, prove, position, key }))
      best[name] = Math.min(best[name], ms);
    if (position.value.arrays?.ids?.differing !== '1')
      violations.push(`by position: ${JSON.stringify(position.value)}`);
    if (key.value.rows?.same !== String(COUNT - 1)) violations.push(`by key: ${JSON.stringify(key.value)}`);
  }
  const peak = memory(server.pid);
  await server.kill();
  const ratio = best.position / (best.cmp + best.prove);
  const shown = Object.entries(best).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  console.error(
    `  2 x ${mib} MiB: ${shown.join(', ')}; ratio ${ratio.toFixed(2)}, peak ${Math.round(peak / MIB)} MiB`,
  );
  if (peak > 250 * MIB) violations.push(`${Math.round(peak / MIB)} MiB`);
  if (ratio > 1.5) violations.push(`${ratio.toFixed(2)} times the time of cmp and of proving both`);
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
summary('comparison', `2 x ${mib} MiB, ${rounds} rounds`, violations);
finish();
