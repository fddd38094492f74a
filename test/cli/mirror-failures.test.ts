/** `mirror` when something fails, is cut off or is stopped: what it says, and that the next run goes on. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import {
  changeAnswer,
  cutAnswer,
  faultyProxy,
  flipByte,
  loseAnswer,
  passOn,
  problem,
  resetAfterBytes,
  type Fault,
} from '../client/faulty-proxy.ts';
import { clientOf, temporaryDirectory } from '../client/running-service.ts';
import { copySnapshot } from '../../src/cli/mirror/copies.ts';
import { buildManifest, parseDraft } from '../../src/contract/manifest.ts';
import { parseStrictJson } from '../../src/contract/strict-json.ts';
import { appForTest, COMMAND, startServer } from '../support/service.ts';
import {
  attemptsOf,
  idOf,
  metadataOf,
  packagePath,
  pattern,
  publishExample,
  removeRoot,
  storeAt,
} from '../support/stores.ts';
import { run } from './command.ts';
import {
  ALL,
  CONTEXTS,
  copyOf,
  EMPTY,
  idsOf,
  LARGE,
  makeOrigin,
  mirror,
  mirrored,
  newRoot,
  packagesOf,
  ROOT,
} from './mirror-support.ts';

let origin: string;

beforeAll(async () => {
  origin = await makeOrigin();
  return () => {
    removeRoot(origin);
  };
});

interface Started {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** What was said so far. */
  readonly err: () => string;
}

/** A run that can be stopped. */
function start(from: string, to: string, ...args: readonly string[]): Started {
  const env = { ...process.env, NO_COLOR: '1', SNAPSHOTS_CONTEXTS: CONTEXTS };
  const child = spawn(process.execPath, [COMMAND, 'mirror', from, to, ...args], { env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (out += String(data)));
  child.stderr.on('data', (data: Buffer) => (err += String(data)));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { kill: (signal) => child.kill(signal), ended, err: () => err };
}

test('killed at any moment and started again, it ends complete, and nothing is there in part', async () => {
  const { url, root } = await appForTest();
  for (const [to, at] of [
    [newRoot(), null],
    [url, root],
  ] as const) {
    const where = at ?? to;
    for (let round = 0; round < 6; round += 1) {
      const published = fs.existsSync(where) ? idsOf(where).length : 0;
      const attempts = fs.existsSync(where) ? attemptsOf(where).length : 0;
      const { kill, ended } = start(origin, to, '--jobs', '1');
      // In the midst of the copies, at another one of them and another moment of it each time.
      await vi.waitFor(
        () => {
          const now = [idsOf(where).length, attemptsOf(where).length];
          expect(now).not.toEqual([published, attempts]);
        },
        { timeout: 20_000, interval: 1 },
      );
      await sleep(round * 4);
      kill('SIGKILL');
      await ended;
      expect(packagesOf(origin)).toMatchObject(packagesOf(where));
      if (idsOf(where).length === ALL.length) break;
    }
    expect(await mirrored(origin, to)).toMatchObject({ code: 0, report: { complete: true } });
    expect(packagesOf(where)).toEqual(packagesOf(origin));
  }
});

/** Holds back the n-th request (from 0) until it is let go. */
function held(n: number): {
  readonly faults: Fault[];
  readonly came: Promise<void>;
  readonly letGo: () => void;
} {
  let arrive = (): void => undefined;
  let letGo = (): void => undefined;
  const came = new Promise<void>((resolve) => (arrive = resolve));
  const go = new Promise<void>((resolve) => (letGo = resolve));
  const hold: Fault = async (exchange) => {
    arrive();
    await go;
    await passOn(exchange);
  };
  return { faults: [...Array<Fault>(n).fill(passOn), hold], came, letGo };
}

test('Ctrl-C once lets what runs come to its end and says how far it came; the next run goes on', async () => {
  const { url } = await appForTest({ root: copyOf(origin) });
  // The listing, then the manifest of the first snapshot.
  const { faults, came, letGo } = held(1);
  const proxy = await faultyProxy(url, faults);
  const to = newRoot();
  const { kill, ended, err } = start(proxy.url, to, '--jobs', '1');
  await came;
  kill('SIGINT');
  await vi.waitFor(() => expect(err()).toContain('once more stops at once'), { timeout: 10_000 });
  letGo();
  const { code, out, err: said } = await ended;
  expect(code).toBe(130);
  expect(out).toContain('1 snapshot copied');
  expect(said).toContain('interrupted: 1 snapshot copied, 6 not; the same command goes on');
  expect(idsOf(to)).toHaveLength(1);
  expect(await mirrored(url, to)).toMatchObject({ code: 0, report: { equal: 1 } });
});

test('Ctrl-C twice ends it at once', async () => {
  const { url } = await appForTest({ root: copyOf(origin) });
  let arrive = (): void => undefined;
  const came = new Promise<void>((resolve) => (arrive = resolve));
  const proxy = await faultyProxy(url, [passOn, () => arrive()]);
  const { kill, ended, err } = start(proxy.url, newRoot());
  await came;
  kill('SIGINT');
  await vi.waitFor(() => expect(err()).toContain('once more stops at once'), { timeout: 10_000 });
  kill('SIGINT');
  expect((await ended).code).toBe(130);
});

/** Eight snapshots that have nothing to do with each other. */
async function fillWithEight(root: string): Promise<void> {
  const store = storeAt(root);
  for (let number = 1; number <= 8; number += 1) await publishExample(store, idOf(number));
  await store.close();
}

test('a service that goes away in the midst ends the run, which says what is left; back again, the next one goes on', async () => {
  const root = newRoot();
  await fillWithEight(root);
  const server = await startServer(root);
  const away: Fault = async (exchange) => {
    await server.stop('SIGKILL');
    exchange.reset();
  };
  // The listing, and a manifest and an array of each of two.
  const proxy = await faultyProxy(server.url, [
    ...Array<Fault>(5).fill(passOn),
    ...Array<Fault>(500).fill(away),
  ]);
  const to = newRoot();
  const { code, report } = await mirrored(proxy.url, to, ['--jobs', '2']);
  expect(code).toBe(1);
  expect(report).toMatchObject({ complete: false, equal: 0 });
  expect(report.problems.map(({ side, code: why }) => `${side} ${why}`)).toEqual(
    Array(report.problems.length).fill('from connection_failed'),
  );
  // Two may be under way when the third fails.
  expect([3, 4]).toContain(report.problems.length);
  expect(report.not_tried).toBe(8 - report.copied.length - report.problems.length);
  expect(report.not_tried).toBeGreaterThan(0);
  const again = await startServer(root);
  expect(await mirrored(again.url, to)).toMatchObject({ code: 0 });
  expect(packagesOf(to)).toEqual(packagesOf(root));
});

test('a service that cannot be reached at all is one line, and 1', async () => {
  const gone = await startServer(newRoot());
  await gone.stop();
  for (const [from, to, side] of [
    [gone.url, newRoot(), 'FROM'],
    [origin, gone.url, 'TO'],
  ] as const) {
    const { code, out, err } = await mirror(from, to);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`pipewhy-snapshots: ${side}: ${gone.url}: nothing listens there (ECONNREFUSED).\n`);
  }
  // Asked for its declarations first.
  const asked = await mirror(gone.url, newRoot(), [], { env: { SNAPSHOTS_CONTEXTS: '' } });
  expect(asked).toMatchObject({ code: 1, out: '' });
  expect(asked.err).toContain(`${gone.url}: nothing listens there`);
});

test('a store may use the memory of a block again as soon as it is asked for the next one', async () => {
  // More than a connection holds while nobody reads it.
  const bytes = pattern(24 * 1024 * 1024);
  const from = newRoot();
  const store = storeAt(from);
  await publishExample(store, idOf(1), { ids: bytes });
  const found = await store.openPackage(idOf(1));
  const files = found.files.map((file) => ({
    ...file,
    async *blocks() {
      // So small that a connection takes the next one before this one has left.
      const block = Buffer.alloc(4096);
      for await (const whole of file.blocks()) {
        for (let at = 0; at < whole.length; at += block.length) {
          const length = block.fill(whole.subarray(at, at + block.length)).length;
          yield block.subarray(0, Math.min(length, whole.length - at));
          block.fill(0);
        }
      }
    },
  }));
  const service = await appForTest();
  const slow: Fault = async (exchange) => {
    await sleep(300);
    await passOn(exchange);
  };
  const proxy = await faultyProxy(service.url, [slow]);
  const client = clientOf(proxy.url);
  const common = { address: '', listPage: () => Promise.reject(new Error('No listing is needed.')) };
  const opened = { ...common, list: () => store.streamSnapshots(), close: () => Promise.resolve() };
  const ending = await copySnapshot(
    {
      from: {
        ...opened,
        kind: 'store',
        store: Object.assign(Object.create(store) as typeof store, {
          openPackage: () => Promise.resolve({ ...found, files }),
        }),
      },
      to: { ...opened, kind: 'service', client },
    },
    {
      id: idOf(1),
      parentId: null,
      manifestSha256: found.manifestSha256,
      arrayCount: 1,
      byteLength: BigInt(bytes.length),
    },
    new AbortController().signal,
    () => undefined,
  );
  expect(ending).toEqual({ is: 'copied' });
  expect(proxy.requests).toEqual(['POST /snapshots']);
  expect(packagesOf(service.root)).toEqual(packagesOf(from));
});

test('each side has its own token; one that is refused is told with its side', async () => {
  const [from, to] = ['a'.repeat(20), 'b'.repeat(20)];
  const source = await appForTest({ settings: { token: from } });
  await fillWithEight(source.root);
  const target = await appForTest({ settings: { token: to, readToken: 'c'.repeat(20) } });
  const urls = [source.url, target.url] as const;
  const none = await mirror(...urls);
  expect({ code: none.code, out: none.out }).toEqual({ code: 1, out: '' });
  expect(none.err).toMatch(/^pipewhy-snapshots: TO: .*token/u);
  const half = await mirror(...urls, ['--token', to]);
  expect(half.code).toBe(1);
  expect(half.err).toMatch(/^pipewhy-snapshots: FROM: .*token/u);
  const reading = await mirrored(...urls, ['--from-token', from, '--to-token', 'c'.repeat(20)]);
  expect(reading.code).toBe(1);
  expect(reading.report.problems[0]).toMatchObject({ side: 'to', code: 'unauthorized' });
  expect(reading.report.not_tried).toBeGreaterThan(0);
  expect(idsOf(target.root)).toEqual([]);
  const env = { SNAPSHOTS_TOKEN: to, SNAPSHOTS_FROM_TOKEN: from };
  expect(await mirrored(...urls, [], { env })).toMatchObject({ code: 0, report: { complete: true } });
  expect(packagesOf(target.root)).toEqual(packagesOf(source.root));
});

test.each<readonly [string, readonly Fault[]]>([
  ['whose answer is lost', [loseAnswer]],
  ['that breaks in the middle', [resetAfterBytes(100_000)]],
  ['that a service is too busy for', [problem(503, 'unavailable', {}, { 'retry-after': '0' })]],
  ['that another one is making', [problem(409, 'publication_in_progress', {}, { 'retry-after': '0' })]],
  ['whose answer is lost, and then the look at what is there', [loseAnswer, problem(503, 'unavailable')]],
])('a publication %s ends well', async (_, faults) => {
  const { url, root } = await appForTest();
  // The listing, then the publication.
  const proxy = await faultyProxy(url, [passOn, ...faults]);
  const { code, report } = await mirrored(origin, proxy.url, ['--id', LARGE]);
  expect({ code, problems: report.problems }).toEqual({ code: 0, problems: [] });
  expect(report.copied.length + report.equal).toBe(1);
  expect(idsOf(root)).toEqual([LARGE]);
});

test('an array whose connection breaks is continued, and one that came with another byte is never published', async () => {
  const { url } = await appForTest({ root: copyOf(origin) });
  const before = [passOn, passOn, passOn];
  const broken = await faultyProxy(url, [...before, cutAnswer(1_000_000)]);
  const to = newRoot();
  expect(await mirrored(broken.url, to, ['--id', LARGE])).toMatchObject({ code: 0 });
  expect(broken.ranges.filter((range) => range !== null)).toHaveLength(1);
  const flipped = changeAnswer(({ body }) => ({ body: flipByte(body) }));
  const wrong = await faultyProxy(url, [...before, ...Array<Fault>(50).fill(flipped)]);
  const none = newRoot();
  const { code, report } = await mirrored(wrong.url, none, ['--id', LARGE]);
  expect(code).toBe(1);
  expect(report.problems).toMatchObject([{ snapshot_id: LARGE, side: 'from', code: 'checksum_mismatch' }]);
  expect(idsOf(none)).toEqual([]);
});

test.each([
  ['the same snapshot', { ids: new BigUint64Array([1n, 2n, 3n]) }, 0],
  ['another one', { ids: new BigUint64Array([1n, 2n, 4n]) }, 1],
])('%s that somebody else published in the meantime is told by its digest', async (_, arrays, expected) => {
  const from = newRoot();
  const store = storeAt(from);
  await publishExample(store, idOf(1));
  await store.close();
  const { url, store: target } = await appForTest();
  const meanwhile: Fault = async (exchange) => {
    await publishExample(target, idOf(1), arrays);
    await passOn(exchange);
  };
  const proxy = await faultyProxy(url, [passOn, meanwhile]);
  const { code, report } = await mirrored(from, proxy.url);
  expect(code).toBe(expected);
  expect(report.copied).toEqual([]);
  if (expected === 0) expect(report).toMatchObject({ complete: true, equal: 1, problems: [] });
  else expect(report.problems).toMatchObject([{ snapshot_id: idOf(1), side: 'to', code: 'snapshot_exists' }]);
});

test('parents in a circle are named', async () => {
  const from = newRoot();
  const store = storeAt(from);
  await publishExample(store, idOf(5));
  await store.close();
  for (const [id, parent] of [
    [idOf(1), idOf(2)],
    [idOf(2), idOf(1)],
  ] as const) {
    const document = JSON.stringify({ snapshot: metadataOf(id, { parent_id: parent }), arrays: {} });
    const { bytes, sha256 } = buildManifest(parseDraft(parseStrictJson(Buffer.from(document))), {});
    fs.mkdirSync(packagePath(from, id));
    fs.writeFileSync(packagePath(from, id, 'manifest.json'), bytes);
    fs.writeFileSync(packagePath(from, id, 'complete.sha256'), `${sha256}\n`);
  }
  const { code, report, ids } = await mirrored(from, newRoot());
  expect({ code, ids }).toEqual({ code: 1, ids: [idOf(5)] });
  expect(report.problems.map(({ snapshot_id: id }) => id).sort()).toEqual([idOf(1), idOf(2)]);
});

test('sockets are reached, each on its side', async () => {
  const directory = temporaryDirectory();
  const [from, to] = [join(directory, 'from'), join(directory, 'to')];
  const source = await appForTest({ root: copyOf(origin), settings: { socket: from } });
  const target = await appForTest({ settings: { socket: to } });
  const args = ['--from-socket', from, '--to-socket', to, '--id', EMPTY];
  expect(await mirrored('http://localhost', 'http://localhost', args)).toMatchObject({
    code: 0,
    ids: [EMPTY],
  });
  expect(idsOf(source.root)).toEqual(ALL);
  expect(idsOf(target.root)).toEqual([EMPTY]);
});

test('wrong words, and what is no store, end with 2 and one sentence', async () => {
  const missing = newRoot();
  const file = join(temporaryDirectory(), 'file');
  fs.writeFileSync(file, '');
  const cases: readonly [readonly string[], RegExp][] = [
    [[missing, newRoot()], /is no store: its directory snapshots cannot be listed \(ENOENT\)/u],
    [[origin, file], /is no store: its directory snapshots cannot be listed \(ENOTDIR\)/u],
    [[origin], /missing required argument 'to'/u],
    [
      ['ftp://host/x', missing],
      /FROM "ftp:\/\/host\/x" is no address of a store: expected a directory, s3:/u,
    ],
    [[origin, ''], /TO "" is no address of a store/u],
    [[origin, 'http://user:secret@host'], /TO must hold no user name or password/u],
    [[origin, missing, '--to-socket', file], /--to-socket is for a service, and TO .* is none/u],
    [[origin, missing, '--id', EMPTY, '--since', '7d'], /leave out --namespace and --since/u],
    [
      [origin, missing, '--id', 'xyz'],
      /^pipewhy-snapshots: A snapshot id is 32 lowercase hex digits.*found "xyz"/u,
    ],
    [[origin, missing, '--jobs', '0'], /Expected a whole number of at least 1/u],
    [[origin, missing, '--since', 'soon'], /Expected a time such as/u],
  ];
  const env = { SNAPSHOTS_CONTEXTS: CONTEXTS };
  for (const [words, sentence] of cases) {
    const { code, out, err } = await run(['mirror', ...words], { env });
    expect({ code, out }, err).toEqual({ code: 2, out: '' });
    expect(err).toMatch(sentence);
    expect(err).not.toMatch(/\bat .*\(.*:\d+:\d+\)|secret/u);
  }
  expect(fs.existsSync(missing)).toBe(false);
});

test('a full output is 1, and a reader that has gone leaves the status as it is', async () => {
  const to = newRoot();
  const script = `"$0" "$1" mirror ${origin} ${to} --id ${ROOT} > /dev/full; echo $?
"$0" "$1" mirror ${origin} ${to} --id ${ROOT} | true; echo "\${PIPESTATUS[0]}"
"$0" "$1" mirror ${origin} ${to} --id ${idOf(1)} --json | true; echo "\${PIPESTATUS[0]}"`;
  const { out } = await run(['-c', script, process.execPath, COMMAND], {
    program: 'bash',
    env: { SNAPSHOTS_CONTEXTS: CONTEXTS },
  });
  expect(out).toBe('1\n0\n1\n');
  expect(idsOf(to)).toEqual([ROOT]);
});
