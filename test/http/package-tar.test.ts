/** A whole package as one archive: the exact files, proven before the first byte, or no clean end. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { tarBlocks, tarLength } from '../../src/http/tar.ts';
import type { PackagedFile } from '../../src/store/snapshot-store.ts';
import { ask, expectProblemHeaders, jsonOf, problemOf, type Answer } from '../support/http.ts';
import { pausedDownload } from '../support/paused-download.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import {
  collect,
  idOf,
  makeRoot,
  packagePath,
  pattern,
  removeRoot,
  temporaryRoot,
} from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish, type ArrayPart } from '../support/uploads.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LONGEST_KEY = 'k'.repeat(64);
const ARRAYS: Readonly<Record<string, ArrayPart>> = {
  ...EXAMPLE_ARRAYS,
  /** Two whole blocks and a bit, in the archive not a multiple of 512. */
  large: { dtype: 'uint8', bytes: pattern(2 * MIB + 77) },
  /** Needs no padding. */
  even: { dtype: 'int32', bytes: pattern(1024) },
  /** Its path has 107 bytes, more than a name of the archive holds in one field. */
  [LONGEST_KEY]: { dtype: 'uint8', bytes: Buffer.of(7) },
};

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly owner: readonly number[];
  readonly mtimeSeconds: number;
  readonly bytes: Buffer;
}

/** An octal or, marked by its first bit, base-256 number. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  if ((field[0]! & 0x80) === 0) return parseInt(field.toString('latin1').replace(/[\0 ]+$/u, '') || '0', 8);
  return Number(BigInt(`0x${field.subarray(1).toString('hex')}`));
}

const textAt = (block: Buffer, at: number, length: number): string =>
  block
    .subarray(at, at + length)
    .toString('latin1')
    .replace(/\0.*$/u, '');

function headerOf(block: Buffer): Omit<Entry, 'bytes'> & { size: number } {
  expect(block.subarray(257, 265).toString('latin1')).toBe('ustar\x0000');
  const blanked = Buffer.concat([block.subarray(0, 148), Buffer.alloc(8, ' '), block.subarray(156)]);
  expect(numberAt(block, 148, 8)).toBe(blanked.reduce((sum, byte) => sum + byte, 0));
  expect(String.fromCharCode(block[156]!)).toBe('0');
  const [name, prefix] = [textAt(block, 0, 100), textAt(block, 345, 155)];
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    mode: numberAt(block, 100, 8),
    owner: [numberAt(block, 108, 8), numberAt(block, 116, 8)],
    size: numberAt(block, 124, 12),
    mtimeSeconds: numberAt(block, 136, 12),
  };
}

/** Everything in the archive, after its form was checked down to the padding. */
function entriesOf(archive: Buffer): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  while (archive.subarray(at, at + 512).some((byte) => byte !== 0)) {
    const { size, ...entry } = headerOf(archive.subarray(at, at + 512));
    const end = at + 512 + size;
    entries.push({ ...entry, bytes: archive.subarray(at + 512, end) });
    at = Math.ceil(end / 512) * 512;
    expect(archive.subarray(end, at).every((byte) => byte === 0)).toBe(true);
  }
  expect(archive.length - at).toBe(1024);
  expect(archive.subarray(at).every((byte) => byte === 0)).toBe(true);
  return entries;
}

const tarOf = (
  url: string,
  id: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> => ask(url, `/snapshots/${id}/package.tar`, { method, headers });

describe('the archive of a package', () => {
  const id = idOf(1);
  let service: RunningApp;
  let archive: Answer;
  beforeAll(async () => {
    service = await startApp();
    expect((await publish(service.url, id, ARRAYS)).status).toBe(201);
    archive = await tarOf(service.url, id);
  });
  afterAll(() => service.close());

  test('holds the exact files under the id, the marker last', () => {
    expect(archive.status).toBe(200);
    const entries = entriesOf(archive.body);
    const names = entries.map(({ path }) => path);
    expect([...names].sort()).toEqual(
      fs
        .readdirSync(packagePath(service.root, id))
        .map((name) => `${id}/${name}`)
        .sort(),
    );
    expect(names.at(0)).toBe(`${id}/intent.json`);
    expect(names.slice(-2)).toEqual([`${id}/manifest.json`, `${id}/complete.sha256`]);
    for (const { path, bytes, ...about } of entries) {
      expect(bytes.equals(fs.readFileSync(join(service.root, 'snapshots', path)))).toBe(true);
      // finished_at_ns in whole seconds; nobody's, readable by all.
      expect(about).toEqual({ mode: 0o644, owner: [0, 0], mtimeSeconds: 1761782401 });
    }
  });

  test('says its length, tag and name, and HEAD says the same', async () => {
    const manifestSha256 = sha256Hex(fs.readFileSync(packagePath(service.root, id, 'manifest.json')));
    const described = {
      'content-type': 'application/x-tar',
      'content-length': String(archive.body.length),
      'content-disposition': `attachment; filename="${id}.tar"`,
      'cache-control': 'private, no-cache',
      'accept-ranges': 'none',
      etag: `"${manifestSha256}.tar"`,
    };
    expect(archive.headers).toMatchObject(described);
    const head = await tarOf(service.url, id, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers).toMatchObject(described);
  });

  test('is the same bytes every time, and whole whatever range is asked for', async () => {
    for (const headers of [{}, { range: 'bytes=0-9' }]) {
      const again = await tarOf(service.url, id, headers);
      expect(again.status).toBe(200);
      expect(again.body.equals(archive.body)).toBe(true);
    }
  });

  test('is not sent again to who has it', async () => {
    const etag = archive.headers.etag!;
    for (const method of ['GET', 'HEAD']) {
      const unchanged = await tarOf(service.url, id, { 'if-none-match': `"x", W/${etag}` }, method);
      expect([unchanged.status, unchanged.body.length, unchanged.headers.etag]).toEqual([304, 0, etag]);
      expect(unchanged.headers).not.toHaveProperty('content-length');
      const manifestTag = etag.replace('.tar', '');
      expect((await tarOf(service.url, id, { 'if-none-match': manifestTag }, method)).status).toBe(200);
      expect((await tarOf(service.url, id, { 'if-match': manifestTag }, method)).status).toBe(412);
      expect((await tarOf(service.url, id, { 'if-match': etag }, method)).status).toBe(200);
    }
  });

  test('extracted into another store is a valid package', async () => {
    const other = await appForTest();
    const extracted = spawnSync('tar', ['-xf', '-', '-C', join(other.root, 'snapshots')], {
      input: archive.body,
    });
    expect([extracted.status, extracted.stderr.toString()]).toEqual([0, '']);
    const manifest = await ask(other.url, `/snapshots/${id}`);
    expect(manifest.status).toBe(200);
    expect(manifest.body.equals((await ask(service.url, `/snapshots/${id}`)).body)).toBe(true);
    for (const [key, { bytes }] of Object.entries(ARRAYS)) {
      expect((await ask(other.url, `/snapshots/${id}/array-${key}.bin`)).body.equals(bytes)).toBe(true);
    }
    expect((await tarOf(other.url, id)).body.equals(archive.body)).toBe(true);
    expect(fs.statSync(packagePath(other.root, id, 'manifest.json')).mtimeMs).toBe(1761782401_000);
  });

  test('of a snapshot that is not there', async () => {
    problemOf(await tarOf(service.url, idOf(99)), 'snapshot_not_found');
    problemOf(await tarOf(service.url, 'ABC'), 'invalid_snapshot_id');
    expect((await tarOf(service.url, idOf(99), {}, 'HEAD')).status).toBe(404);
  });
});

describe('packages of another implementation', () => {
  const VECTORS = new URL('../vectors/packages/', import.meta.url);
  test.each(['valid-basic', 'valid-no-intent', 'valid-no-arrays', 'valid-unicode'])('%s', async (name) => {
    const { url, root } = await appForTest();
    const directory = new URL(`${name}/`, VECTORS);
    const [id = ''] = fs.readdirSync(directory);
    fs.cpSync(new URL(`${id}/`, directory), packagePath(root, id), { recursive: true });
    const files = new Map(entriesOf((await tarOf(url, id)).body).map(({ path, bytes }) => [path, bytes]));
    expect(files.size).toBe(fs.readdirSync(packagePath(root, id)).length);
    for (const [path, bytes] of files) {
      expect(bytes.equals(fs.readFileSync(join(root, 'snapshots', path)))).toBe(true);
    }
  });
});

test.each([
  ['before 1970 there is nothing', '0', 0],
  ['past the octal times', '9000000000000000000', 9_000_000_000],
  ['the last one', '18446744073709551615', 18_446_744_073],
])('the time of a snapshot, however late: %s', async (_what, finishedAt, seconds) => {
  const { url } = await appForTest();
  const times = { started_at_ns: '0', finished_at_ns: finishedAt };
  expect((await publish(url, idOf(1), EXAMPLE_ARRAYS, times)).status).toBe(201);
  const entries = entriesOf((await tarOf(url, idOf(1))).body);
  expect(new Set(entries.map(({ mtimeSeconds }) => mtimeSeconds))).toEqual(new Set([seconds]));
});

describe('a file beyond 8 GiB', () => {
  const size = 9 * GIB + 1;
  const huge: PackagedFile = { name: 'array-huge.bin', byteLength: size, blocks: async function* () {} };

  test('has its size in base-256, and the length of the archive counts it', async () => {
    expect(tarLength([huge])).toBe(512 + 9 * GIB + 512 + 1024);
    const written = await collect(tarBlocks(idOf(1), [huge], 5));
    expect(headerOf(written.subarray(0, 512))).toMatchObject({
      path: `${idOf(1)}/array-huge.bin`,
      size,
      mtimeSeconds: 5,
    });
  });

  test('is listed by tar', async () => {
    const written = await collect(tarBlocks(idOf(1), [huge], 5));
    const path = join(temporaryRoot(), 'huge.tar');
    fs.writeFileSync(path, written.subarray(0, 512));
    // A hole: the bytes take no room on the disk.
    fs.truncateSync(path, tarLength([huge]));
    const listed = spawnSync('tar', ['-tvf', path], { encoding: 'utf8' });
    expect([listed.status, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toContain(` ${size} `);
  });

  test('fits no smaller and no larger number than its own', async () => {
    for (const byteLength of [8 * GIB - 1, 8 * GIB, Number.MAX_SAFE_INTEGER]) {
      const written = await collect(tarBlocks(idOf(1), [{ ...huge, byteLength }], 5));
      expect(headerOf(written.subarray(0, 512)).size).toBe(byteLength);
    }
  });

  test('whose path does not fit is refused, never cut', async () => {
    const named = { ...huge, name: `array-${'k'.repeat(101)}.bin`, byteLength: 0 };
    await expect(collect(tarBlocks(idOf(1), [named], 5))).rejects.toThrow(/Expected a path that fits/u);
  });
});

describe('nothing is sent of a package that cannot be proven', () => {
  const id = idOf(1);
  const flip = (path: string): void => {
    const bytes = fs.readFileSync(path);
    bytes[bytes.length - 2]! ^= 1;
    fs.chmodSync(path, 0o644);
    fs.writeFileSync(path, bytes);
  };
  test.each<[string, (directory: string) => void]>([
    ['intent.json changed', (at) => flip(join(at, 'intent.json'))],
    ['a small array changed', (at) => flip(join(at, 'array-ids.bin'))],
    ['a large array changed', (at) => flip(join(at, 'array-large.bin'))],
    ['the manifest changed', (at) => flip(join(at, 'manifest.json'))],
    ['the marker changed', (at) => flip(join(at, 'complete.sha256'))],
    ['an array grew', (at) => fs.appendFileSync(join(at, 'array-none.bin'), 'xx')],
    ['an array is gone', (at) => fs.rmSync(join(at, 'array-flags.bin'))],
    ['the marker is gone', (at) => fs.rmSync(join(at, 'complete.sha256'))],
    ['there is a file more', (at) => fs.writeFileSync(join(at, 'notes.txt'), '')],
    [
      'an array became a link',
      (at) => {
        fs.renameSync(join(at, 'array-ids.bin'), join(at, '..', '..', 'elsewhere'));
        fs.symlinkSync(join(at, '..', '..', 'elsewhere'), join(at, 'array-ids.bin'));
      },
    ],
  ])('%s', async (_what, damage) => {
    const { url, root } = await appForTest();
    expect((await publish(url, id, ARRAYS)).status).toBe(201);
    // Read before, so that a remembered proof would show.
    const { headers } = await tarOf(url, id);
    damage(packagePath(root, id));
    for (const conditions of [{}, { 'if-none-match': headers.etag! }]) {
      problemOf(await tarOf(url, id, conditions), 'storage_integrity');
      const head = await tarOf(url, id, conditions, 'HEAD');
      expect(head.status).toBe(500);
      expectProblemHeaders(head);
    }
  });
});

describe('what changes while it is sent ends in a broken connection', () => {
  const id = idOf(1);
  /** More than the buffers of a connection take while the reader waits. */
  const big = { dtype: 'uint8', bytes: pattern(32 * MIB) };
  const arrays = { a: big, b: { dtype: 'uint8', bytes: pattern(3 * MIB, 2) }, c: EXAMPLE_ARRAYS['ids']! };
  let other = '';
  let service: RunningApp;

  beforeAll(async () => {
    other = makeRoot();
    const elsewhere = await startApp({ root: other });
    const swapped = { ...arrays, b: { dtype: 'uint8', bytes: pattern(3 * MIB, 3) } };
    expect((await publish(elsewhere.url, id, swapped)).status).toBe(201);
    await elsewhere.close();
  });
  afterAll(() => {
    removeRoot(other);
  });

  test.each<[string, (directory: string) => void]>([
    ['nothing', () => {}],
    ['the array under way', (at) => overwriteLastByte(join(at, 'array-a.bin'))],
    ['an array still to come', (at) => overwriteLastByte(join(at, 'array-b.bin'))],
    ['the inventory', (at) => fs.writeFileSync(join(at, 'notes.txt'), '')],
    ['the length of an array still to come', (at) => fs.truncateSync(join(at, 'array-b.bin'), 5)],
    [
      'the package as a whole, by another valid one of the same lengths',
      (at) => {
        fs.renameSync(at, `${at}-before`);
        fs.renameSync(packagePath(other, id), at);
      },
    ],
  ])('%s', async (what, change) => {
    service = await appForTest();
    expect((await publish(service.url, id, arrays)).status).toBe(201);
    const download = await pausedDownload(`${service.url}/snapshots/${id}/package.tar`);
    expect(download.status).toBe(200);
    change(packagePath(service.root, id));
    const { clean, received } = await download.finish();
    expect(clean).toBe(what === 'nothing');
    if (what === 'nothing') {
      expect(entriesOf(received)).toHaveLength(6);
    } else {
      expect(service.logs.some(({ msg }) => msg === 'a download was broken off')).toBe(true);
    }
  });

  function overwriteLastByte(path: string): void {
    fs.chmodSync(path, 0o644);
    const file = fs.openSync(path, 'r+');
    const { size } = fs.fstatSync(file);
    fs.writeSync(file, Buffer.of(0xff), 0, 1, size - 1);
    fs.closeSync(file);
  }
});

test('an archive of no more than a manifest', async () => {
  const { url } = await appForTest();
  expect((await publish(url, idOf(1), {})).status).toBe(201);
  const entries = entriesOf((await tarOf(url, idOf(1))).body);
  expect(entries.map(({ path }) => path.split('/').at(-1))).toEqual([
    'intent.json',
    'manifest.json',
    'complete.sha256',
  ]);
  expect(jsonOf(await ask(url, `/snapshots/${idOf(1)}`)).arrays).toEqual({});
});
