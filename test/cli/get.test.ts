import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { changeAnswer, faultyProxy, flipByte, passOn, type Fault } from '../client/faulty-proxy.ts';
import {
  clientOf,
  corrupt,
  metadataOf,
  startService,
  temporaryDirectory,
} from '../client/running-service.ts';
import { idOf, pattern } from '../support/stores.ts';
import { run } from './command.ts';

const ID = idOf(1);
const bytes = pattern(600_000);

async function published() {
  const service = await startService();
  await clientOf(service.url).publish(metadataOf(ID), {
    ids: bytes,
    few: Int32Array.of(1, 2),
    none: new Int8Array(0),
  });
  return { ...service, cwd: temporaryDirectory(), stored: join(service.root, 'snapshots', ID) };
}

function contents(directory: string): Record<string, string> {
  const names = fs.readdirSync(directory);
  return Object.fromEntries(
    names.sort().map((name) => [name, sha256Hex(fs.readFileSync(join(directory, name)))]),
  );
}

/** The first half of an array arrives, then nothing works any more. */
const halfOnly: Fault = async (exchange) => {
  const { status, headers, body } = await exchange.forward();
  exchange.response.writeHead(status, headers as Record<string, string>);
  exchange.response.write(body.subarray(0, body.length >> 1), () => setTimeout(exchange.reset, 50));
};
const refuse: Fault = ({ reset }) => reset();

test('get copies a package byte for byte, and a second time finds it there', async () => {
  const { url, cwd, stored } = await published();
  const first = await run(['get', ID, '--url', url], { cwd });
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toBe(`saved ${ID} (3 arrays, 585.9 KiB, proven)\n`);
  expect(contents(join(cwd, ID))).toEqual(contents(stored));
  expect(fs.readdirSync(cwd)).toEqual([ID]);
  const second = await run(['get', ID, '--url', url, '--json'], { cwd });
  expect(JSON.parse(second.out)).toMatchObject({ outcome: 'present', path: ID, array_count: 3 });
});

test('get and package.tar give the same directory, with the intent where there is one', async () => {
  const { url, cwd, stored } = await published();
  expect((await run(['get', ID, '--url', url], { cwd })).code).toBe(0);
  const archive = Buffer.from(await (await fetch(`${url}/snapshots/${ID}/package.tar`)).arrayBuffer());
  fs.mkdirSync(join(cwd, 'untarred'));
  expect(spawnSync('tar', ['-x', '-C', join(cwd, 'untarred')], { input: archive }).status).toBe(0);
  expect(contents(join(cwd, ID))).toEqual(contents(join(cwd, 'untarred', ID)));
  expect(fs.readdirSync(join(cwd, ID))).toContain('intent.json');
  fs.rmSync(join(cwd, ID, 'intent.json'));
  expect((await run(['get', ID, '--url', url], { cwd })).out).toMatch(/^present /u);
  fs.rmSync(join(stored, 'intent.json'));
  expect((await run(['get', ID, '--url', url, '-o', 'without'], { cwd })).code).toBe(0);
  expect(contents(join(cwd, 'without'))).toEqual(contents(stored));
});

test('get never overwrites a directory or a file of other content', async () => {
  const { url, cwd } = await published();
  fs.mkdirSync(join(cwd, 'mine'));
  fs.writeFileSync(join(cwd, 'mine', 'notes.txt'), 'mine');
  const directory = await run(['get', ID, '--url', url, '-o', 'mine'], { cwd });
  expect(directory.code).toBe(1);
  expect(directory.err).toContain('does not hold exactly this snapshot');
  const file = await run(['get', ID, 'few', '--url', url, '-o', 'mine/notes.txt'], { cwd });
  expect(file.code).toBe(1);
  expect(fs.readFileSync(join(cwd, 'mine', 'notes.txt'), 'utf8')).toBe('mine');
});

test('a copy with one changed byte is not taken for the snapshot', async () => {
  const { url, cwd } = await published();
  expect((await run(['get', ID, '--url', url], { cwd })).code).toBe(0);
  corrupt(join(cwd, ID, 'array-ids.bin'));
  const { code, err } = await run(['get', ID, '--url', url], { cwd });
  expect(code).toBe(1);
  expect(err).toContain('does not hold exactly this snapshot');
});

test('an array that agrees with its own headers but not with the manifest ends with 4', async () => {
  const { url, cwd } = await published();
  const forged = Buffer.alloc(bytes.length);
  const sha256 = sha256Hex(forged);
  const forge: Fault = async (exchange) => {
    const received = await exchange.forward();
    if (!exchange.request.url?.endsWith('array-ids.bin')) {
      exchange.answer(received);
      return;
    }
    const digest = `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
    const headers = { ...received.headers, etag: `"${sha256}"`, 'repr-digest': digest };
    exchange.answer({ ...received, headers, body: forged });
  };
  const proxy = await faultyProxy(
    url,
    Array.from({ length: 9 }, () => forge),
  );
  expect((await run(['get', ID, '--url', proxy.url, '-o', 'copy'], { cwd })).code).toBe(4);
  expect(fs.readdirSync(cwd)).toEqual(['copy.part']);
  expect(fs.readdirSync(join(cwd, 'copy.part'))).not.toContain('array-ids.bin');
});

test('a package that breaks off appears only when it is whole, and is continued by Range', async () => {
  const { url, cwd, stored } = await published();
  const broken = await faultyProxy(url, [
    passOn,
    passOn,
    halfOnly,
    ...Array.from({ length: 9 }, () => refuse),
  ]);
  const first = await run(['get', ID, '--url', broken.url, '-o', 'copy'], { cwd });
  expect(first.code).toBe(5);
  expect(fs.readdirSync(cwd)).toEqual(['copy.part']);
  const kept = fs.statSync(join(cwd, 'copy.part', 'array-ids.bin.part')).size;
  expect(kept).toBeGreaterThan(0);
  const proxy = await faultyProxy(url, []);
  const second = await run(['get', ID, '--url', proxy.url, '-o', 'copy'], { cwd });
  expect(second).toMatchObject({ code: 0, err: '' });
  expect(contents(join(cwd, 'copy'))).toEqual(contents(stored));
  expect(fs.readdirSync(cwd)).toEqual(['copy']);
  // The array that was whole is not fetched again, the broken one from where it stopped.
  expect(proxy.requests.filter((line) => line.includes('array-'))).toEqual([
    `GET /snapshots/${ID}/array-ids.bin`,
  ]);
  expect(proxy.ranges).toContain(`bytes=${kept}-`);
});

test('get KEY writes one array, by default under its own name, into a directory, or to standard output', async () => {
  const { url, cwd } = await published();
  const few = Buffer.from(Int32Array.of(1, 2).buffer);
  const named = await run(['get', ID, 'few', '--url', url], { cwd });
  expect(named.out).toBe('saved array-few.bin (2 of int32, 8 B, proven)\n');
  expect(fs.readFileSync(join(cwd, 'array-few.bin'))).toEqual(few);
  fs.mkdirSync(join(cwd, 'into'));
  const into = await run(['get', ID, 'few', '--url', url, '-o', 'into', '--json'], { cwd });
  expect(JSON.parse(into.out)).toMatchObject({
    outcome: 'saved',
    path: 'into/array-few.bin',
    dtype: 'int32',
    count: 2,
  });
  const piped = await run(['get', ID, 'few', '--url', url, '-o', '-'], { cwd });
  expect(piped.stdout).toEqual(few);
  const none = await run(['get', ID, 'none', '--url', url], { cwd });
  expect(none.code).toBe(0);
  expect(fs.statSync(join(cwd, 'array-none.bin')).size).toBe(0);
});

test('a part is continued, and one of other bytes is noticed and fetched anew', async () => {
  const { url, cwd } = await published();
  const file = join(cwd, 'ids.bin');
  for (const [start, ranges] of [
    [bytes.subarray(0, 200_000), [null, 'bytes=200000-']],
    [new Uint8Array(200_000), [null, 'bytes=200000-', null]],
    [new Uint8Array(900_000), [null, null]],
    [bytes, [null]],
  ] as const) {
    fs.writeFileSync(`${file}.part`, start);
    const proxy = await faultyProxy(url, []);
    expect((await run(['get', ID, 'ids', '--url', proxy.url, '-o', file])).code).toBe(0);
    expect(sha256Hex(fs.readFileSync(file))).toBe(sha256Hex(bytes));
    expect(proxy.ranges).toEqual(ranges);
    fs.rmSync(file);
  }
});

test('wrong bytes end with 4 and leave nothing behind', async () => {
  const { url, cwd } = await published();
  const wrong: Fault = async (exchange) =>
    exchange.request.method === 'HEAD'
      ? passOn(exchange)
      : changeAnswer(({ body }) => ({ body: flipByte(body) }))(exchange);
  const proxy = await faultyProxy(
    url,
    Array.from({ length: 9 }, () => wrong),
  );
  const { code, err } = await run(['get', ID, 'ids', '--url', proxy.url], { cwd });
  expect(code).toBe(4);
  expect(err).toMatch(/^pipewhy-snapshots: array ids of .*: expected SHA-256 .*\n$/u);
  expect(fs.readdirSync(cwd)).toEqual([]);
  const piped = await run(['get', ID, 'ids', '--url', proxy.url, '-o', '-'], { cwd });
  expect(piped.code).toBe(4);
});

test('a stored snapshot that does not hold ends with 4, one that is not there with 3', async () => {
  const { url, cwd, stored } = await published();
  corrupt(join(stored, 'array-ids.bin'));
  expect((await run(['get', ID, '--url', url], { cwd })).code).toBe(4);
  expect((await run(['show', ID, '--url', url], { cwd })).code).toBe(4);
  expect((await run(['get', idOf(9), '--url', url], { cwd })).code).toBe(3);
  expect((await run(['get', ID, 'other', '--url', url], { cwd })).code).toBe(3);
  expect(fs.readdirSync(cwd)).toEqual([]);
});
