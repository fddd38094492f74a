/**
 * Several server processes over one root: clients of all of them publish the same ids at the same time, with identical
 * and with different bytes, some break off, and others read all the while. What everybody saw is checked against a model
 * of a register that is written once.
 *
 *     node test/campaigns/many-processes.mjs [--seed 1] [--seconds 60]
 *
 * With strace the renames of all processes are also delayed, so that more of them meet. Exits 1 on a violation.
 */
import fs from 'node:fs';
import path from 'node:path';
import { contradictions, IMPOSSIBLE, POSSIBLE } from './register-model.mjs';
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
  sleep,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, seconds } = flagsOf({ seed: 1, seconds: 60 });
const DELAY_MICROSECONDS = 30_000;
const slowRename = [
  ...['strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=rename'],
  ...['-e', `inject=rename:delay_enter=${DELAY_MICROSECONDS}`],
];
/** How many publications of one id meet, and of how many different contents. */
const WRITERS = 6;
const CONTENTS = 3;
const READERS = 3;

const random = randomOf(seed);
const work = temporaryDirectory();
const began = performance.now();
const now = () => performance.now() - began;

await main();
finish();

async function main() {
  const blind = Object.entries(IMPOSSIBLE)
    .filter(([, history]) => contradictions(history).length === 0)
    .map(([name]) => `the model does not notice: ${name}`);
  const alarmed = contradictions(POSSIBLE).map((text) => `the model objects to what may happen: ${text}`);
  summary('several processes, the model itself', `${Object.keys(IMPOSSIBLE).length + 1} histories`, [
    ...blind,
    ...alarmed,
  ]);

  const runs = [
    { servers: 2, under: [] },
    { servers: 4, under: [] },
    { servers: 2, under: slowRename },
    { servers: 4, under: slowRename },
  ];
  for (const { servers, under } of runs) {
    const campaign = `${servers} processes, one root${under.length > 0 ? ', slow renames' : ''}`;
    if (under.length > 0 && !hasCommand('strace', ['-V'])) skipped(campaign, 'strace is not installed');
    else await contest(campaign, servers, under, (seconds * 1000) / runs.length);
  }
}

async function contest(campaign, count, under, milliseconds) {
  const root = fs.mkdtempSync(path.join(work, 'root-'));
  const servers = await Promise.all(Array.from({ length: count }, () => startServer(root, { under })));
  const history = [];
  const violations = [];
  const contents = new Map();
  const urlOfAny = () => servers[Math.floor(random() * count)].url;
  let id = idOf(1);
  let over = false;

  const readers = Array.from({ length: READERS }, async () => {
    while (!over) {
      await read(urlOfAny(), id, history, contents, violations);
      await sleep(2);
    }
  });
  let contested = 0;
  let refusals = 0;
  for (const until = Date.now() + milliseconds; contested === 0 || Date.now() < until;) {
    contested += 1;
    id = idOf(contested);
    const outcomes = await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) =>
        // Every server is asked by somebody; the lock inside one does not decide alone.
        write(servers[writer % count].url, id, writer, history, contents),
      ),
    );
    refusals += outcomes.filter((status) => status === 409).length;
    // Those who broke off may have won, unanswered; otherwise somebody must have.
    if (!outcomes.includes(201) && !outcomes.includes(0)) {
      violations.push(`seed ${seed}: nobody created ${id}: ${outcomes.join(', ')}`);
    }
    await read(urlOfAny(), id, history, contents, violations);
  }
  over = true;
  await Promise.all(readers);
  violations.push(...contradictions(history).map((text) => `seed ${seed}, ${campaign}: ${text}`));

  const acknowledged = new Map(
    history
      .filter(({ kind, status }) => kind === 'publish' && status === 201)
      .map((event) => [event.id, event.digest]),
  );
  for (const { url } of servers) await checkRoot(url, acknowledged, (text) => violations.push(text));
  await Promise.all(servers.map((server) => server.kill()));
  const after = await startServer(root);
  await checkRoot(after.url, acknowledged, (text) => violations.push(`after a restart: ${text}`));
  await after.kill();
  const broken = history.filter(({ kind, status }) => kind === 'publish' && status === 0).length;
  summary(
    campaign,
    `${contested} ids, ${acknowledged.size} created, ${refusals} refused, ${broken} broken off, ${history.length} events`,
    violations,
  );
}

async function write(url, id, writer, history, contents) {
  const content = Math.floor(random() * CONTENTS);
  const arrays = {
    a: payloadOf(randomOf(content + 7), 3000 + content),
    b: payloadOf(randomOf(content), 40_000),
  };
  contents.set(`${id} ${content}`, arrays);
  // Now and then a client goes away at some moment of its upload.
  const breaks = writer > 1 && random() < 0.2;
  const signal = breaks ? AbortSignal.timeout(1 + Math.floor(random() * 40)) : AbortSignal.timeout(60_000);
  await sleep(Math.floor(random() * 5));
  const begin = now();
  const answer = await publish(url, id, arrays, { note: `content ${content}`, signal });
  let digest = null;
  if (answer.status === 201) digest = answer.sha256;
  if (answer.status === 409) digest = answer.json().manifest_sha256 ?? null;
  history.push({ kind: 'publish', id, begin, end: now(), status: answer.status, digest });
  return answer.status;
}

/** The manifest, and the payloads of the content that it says it is. */
async function read(url, id, history, contents, violations) {
  const begin = now();
  const { status, sha256, json } = await request(`${url}/snapshots/${id}`);
  if (status === 0) return;
  history.push({ kind: 'read', id, begin, end: now(), status, digest: status === 200 ? sha256 : null });
  if (status !== 200) return;
  const [, content] = json().snapshot.source_version.split(' ');
  for (const [key, bytes] of Object.entries(contents.get(`${id} ${content}`) ?? {})) {
    const stored = await request(`${url}/snapshots/${id}/array-${key}.bin`);
    if (stored.status !== 200 || !stored.bytes.equals(bytes)) {
      violations.push(`seed ${seed}: array ${key} of ${id} answers ${stored.status}, or the bytes of nobody`);
    }
  }
}
