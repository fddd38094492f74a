/** What is told of as done lies on the disk, whole: short writes, two runs at once, killed runs, full outputs. */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';

import { claimPart, downloadFile, makeDirectory } from '../../src/cli/files.ts';
import { SnapshotClient } from '../../src/client/index.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { npyHeader } from '../../src/contract/npy-header.ts';
import { metadataOf, temporaryDirectory } from '../client/running-service.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf, pattern } from '../support/stores.ts';
import { COMMAND, run } from './command.ts';

const ID = idOf(1);
const bytes = pattern(160_000);
let service: RunningApp;
let client: SnapshotClient;

beforeAll(async () => {
  service = await startApp();
  client = new SnapshotClient(service.url);
  await client.publish(metadataOf(ID), { ids: bytes, few: Int32Array.of(1, 2) });
  return async () => {
    await client.close();
    await service.close();
  };
});

/** In a shell that lets files grow to 64 blocks of 1024 bytes: what a nearly full disk does. */
function limited(cwd: string, args: string) {
  const script = `ulimit -f 64; "$0" "$1" ${args}`;
  return run(['-c', script, process.execPath, COMMAND], { cwd, program: 'bash' });
}

test.each([
  ['an array', `get ${ID} ids -o ids.bin`, 'ids.bin'],
  ['a .npy file', `get ${ID} ids -o ids.npy`, 'ids.npy'],
  ['a whole package', `get ${ID} -o copy`, 'copy'],
])(
  '%s that does not fit is not called saved, and is continued where there is room',
  async (_, args, name) => {
    const cwd = temporaryDirectory();
    const short = await limited(cwd, `${args} --url ${service.url}`);
    expect({ code: short.code, out: short.out }).toEqual({ code: 1, out: '' });
    expect(short.err).toMatch(
      /cannot be written beyond its first 65536 bytes \(EFBIG\)\n {2}What arrived stays in /u,
    );
    expect(short.err).toContain(`${name}.part; the same command continues it.`);
    expect(fs.readdirSync(cwd)).toEqual([`${name}.part`]);
    const whole = await run([...args.split(' '), '--url', service.url], { cwd });
    expect(whole).toMatchObject({ code: 0, err: '' });
    expect(fs.readdirSync(cwd)).toEqual([name]);
    const file = name === 'copy' ? join(cwd, name, 'array-ids.bin') : join(cwd, name);
    const header = name.endsWith('.npy') ? npyHeader('uint8', '160000') : Buffer.alloc(0);
    expect(sha256Hex(fs.readFileSync(file))).toBe(sha256Hex(Buffer.concat([header, bytes])));
  },
);

test('standard output that is a file and cannot take everything ends with one line and 1', async () => {
  const cwd = temporaryDirectory();
  const { code, err } = await limited(cwd, `get ${ID} ids -o - --url ${service.url} > out.bin`);
  expect({ code, err }).toEqual({
    code: 1,
    err: 'pipewhy-snapshots: standard output cannot be written (EFBIG)\n',
  });
});

const wanted = {
  id: ID,
  key: 'ids',
  header: new Uint8Array(0),
  byteLength: bytes.length,
  sha256: sha256Hex(bytes),
};

/** Fetches in this process; `disturb` is called with the part's path after each piece. */
async function fetchInto(path: string, disturb: (part: string) => void = () => undefined) {
  const kept: (string | null)[] = [];
  const here = (): string =>
    join(path, '..', fs.readdirSync(join(path, '..')).find((name) => name.includes('.part')) ?? '');
  const outcome = downloadFile(client, wanted, path, {
    onBytes: () => disturb(here()),
    onKept: (part) => kept.push(part),
    signal: new AbortController().signal,
  });
  return { outcome: await outcome.catch((error: unknown) => error), kept };
}

test('bytes that another program changes in the file meanwhile are not called proven', async () => {
  const path = join(temporaryDirectory(), 'ids.bin');
  const { outcome, kept } = await fetchInto(path, (part) => fs.truncateSync(part, 10));
  expect(outcome).toMatchObject({ code: 'checksum_mismatch' });
  expect(kept).toEqual([null]);
  expect(fs.existsSync(path)).toBe(false);
});

test('of several runs at once one saves and the others find it present', async () => {
  const path = join(temporaryDirectory(), 'ids.bin');
  const args = ['get', ID, 'ids', '--url', service.url, '-o', path];
  const ended = await Promise.all([1, 2, 3].map(() => run(args)));
  expect(ended.map(({ code, err }) => ({ code, err }))).toEqual(Array(3).fill({ code: 0, err: '' }));
  expect(ended.map(({ out }) => out.split(' ')[0]).sort()).toEqual(['present', 'present', 'saved']);
  expect(fs.readdirSync(join(path, '..'))).toEqual(['ids.bin']);
  expect(sha256Hex(fs.readFileSync(path))).toBe(wanted.sha256);
});

test('what another run puts there while this one fetches is found present, or refused and left alone', async () => {
  for (const [content, expected] of [
    [bytes, 'present'],
    [Buffer.from('mine'), { code: 'target_exists' }],
  ] as const) {
    const path = join(temporaryDirectory(), 'ids.bin');
    const { outcome } = await fetchInto(path, () => {
      if (!fs.existsSync(path)) fs.writeFileSync(path, content);
    });
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
    expect(fs.readFileSync(path)).toEqual(Buffer.from(content));
  }
});

test('a part belongs to one run: that of a live one is left alone, that of a killed one is continued', async () => {
  const target = join(temporaryDirectory(), 'ids.bin');
  const own = await claimPart(target, 'file');
  const [, machine = ''] = /\.part\.([0-9a-f]{8})-/u.exec(own.path) ?? [];
  await own.keep();
  const live = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  try {
    fs.writeFileSync(`${target}.part.${machine}-${live.pid}`, 'live');
    fs.writeFileSync(`${target}.part.${machine}-${dead}`, 'dead');
    fs.writeFileSync(`${target}.part.00000000-${dead}`, 'elsewhere');
    const part = await claimPart(target, 'file');
    expect(fs.readFileSync(part.path, 'utf8')).toBe('dead');
    expect(await part.keep()).toBe(`${target}.part`);
    const again = await claimPart(target, 'file');
    expect(fs.readFileSync(again.path, 'utf8')).toBe('dead');
    const names = fs
      .readdirSync(join(target, '..'))
      .filter((name) => join(target, '..', name) !== again.path);
    expect(names.sort()).toEqual(
      [`ids.bin.part.00000000-${dead}`, `ids.bin.part.${machine}-${live.pid}`].sort(),
    );
  } finally {
    live.kill();
  }
});

test('a part with a second name is not written into', async () => {
  const target = join(temporaryDirectory(), 'ids.bin');
  fs.writeFileSync(`${target}.part`, 'mine');
  fs.linkSync(`${target}.part`, `${target}.other`);
  const { outcome } = await fetchInto(target);
  expect(outcome).toBe('saved');
  expect(fs.readFileSync(`${target}.other`, 'utf8')).toBe('mine');
});

test('folders are made one by one, and never for ever', async () => {
  const root = temporaryDirectory();
  await makeDirectory(join(root, 'a', 'b', 'c'));
  expect(fs.statSync(join(root, 'a', 'b', 'c')).isDirectory()).toBe(true);
  if (process.platform !== 'linux') return;
  await expect(makeDirectory('/proc/x/y')).rejects.toMatchObject({
    message: '/proc/x cannot be made (ENOENT)',
  });
});

test('a run that is interrupted says what stays where', async () => {
  const cwd = temporaryDirectory();
  const child = spawn(process.execPath, [COMMAND, 'publish', '--url', service.url, '--metadata', '-'], {
    cwd,
  });
  const err: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  // It waits for its metadata. Node itself catches SIGINT; SIGHUP is caught once the command listens for both.
  await vi.waitFor(() => {
    const mask = /SigCgt:\s*([0-9a-f]+)/u.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
    expect(BigInt(`0x${mask}`) & 1n).toBe(1n);
  }, 10_000);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(Buffer.concat(err).toString()).toMatch(/^pipewhy-snapshots: interrupted: nothing was published/u);
});
