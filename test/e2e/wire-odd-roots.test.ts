/** Disks that are full, read-only or split, and packages in which something else lies than a file. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { ask, jsonOf, pathsOf, problemOf } from '../support/http.ts';
import { canMount, mountBind, mountTmpfs, remount } from '../support/mounts.ts';
import { appForTest, runCommand, startApp } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, packagePath, pattern, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';
import { activeCharactersIn, eventually, head, Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;
const PAGE = 4096;
const ID = idOf(1);

const mountable = canMount();
if (!mountable)
  console.warn('Tests of full, read-only and split disks are skipped: nothing can be mounted here.');

async function expectReadable(url: string, id = ID): Promise<void> {
  expect((await ask(url, `/snapshots/${id}`)).status).toBe(200);
  expect((await ask(url, `/snapshots/${id}/array-ids.bin`)).status).toBe(200);
  expect(
    jsonOf(await ask(url, '/snapshots')).snapshots.map((one: { snapshot_id: string }) => one.snapshot_id),
  ).toContain(id);
  expect((await ask(url, '/incomplete')).status).toBe(200);
}

function freePages(root: string): number {
  const { bavail, bsize } = fs.statfsSync(root);
  return Math.floor((bavail * bsize) / PAGE);
}

describe.skipIf(!mountable)('a disk of 1 MiB', () => {
  it('that runs full at any step gives 507, keeps the attempt and goes on answering', async () => {
    const root = temporaryRoot();
    mountTmpfs(root, 'size=1m');
    const { url } = await appForTest({ root });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const phases = new Set<string>();
    const free = freePages(root);
    for (const pages of [2 * free, free + 1, free, free - 1, free - 2, free - 3, free - 4]) {
      const bytes = Buffer.alloc(pages * PAGE, 5);
      const answer = await publish(url, idOf(2), { big: { dtype: 'uint8', bytes } });
      if (answer.status === 201) {
        phases.add('published');
        break;
      }
      const problem = problemOf(answer, 'insufficient_storage');
      phases.add(problem.phase);
      expect(fs.existsSync(join(root, problem.attempt))).toBe(true);
      await expectReadable(url);
      expect(jsonOf(await ask(url, '/incomplete')).incomplete).toHaveLength(1);
      // What a person would do; the service never does.
      fs.rmSync(join(root, problem.attempt), { recursive: true });
    }
    expect([...phases].sort()).toEqual(['manifest', 'marker', 'payloads', 'published']);
    await expectReadable(url, idOf(1));
  });

  it('without room for one more directory gives 507 and makes nothing', async () => {
    const root = temporaryRoot();
    mountTmpfs(root, 'size=1m,nr_inodes=40');
    const { url } = await appForTest({ root });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    fs.mkdirSync(join(root, 'ballast'));
    for (let number = 0; fs.statfsSync(root).ffree > 0; number += 1)
      fs.writeFileSync(join(root, 'ballast', String(number)), '');
    const problem = problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS), 'insufficient_storage');
    expect(problem.phase).toBe('attempt');
    expect(problem).not.toHaveProperty('attempt');
    expect(attemptsOf(root)).toEqual([]);
    await expectReadable(url);
    fs.rmSync(join(root, 'ballast', '0'));
    problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS), 'insufficient_storage');
    expect(jsonOf(await ask(url, '/incomplete')).incomplete).toMatchObject([{ phase: 'INVALID' }]);
    await expectReadable(url);
  });

  it('keeps its reserve: refused before it is full, at the start and on the way', async () => {
    const root = temporaryRoot();
    mountTmpfs(root, 'size=24m');
    const { url, store } = await appForTest({ root, store: { reserveBytes: 8 * MIB } });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const free = freePages(root);
    problemOf(
      await publish(url, idOf(2), { big: { dtype: 'uint8', bytes: Buffer.alloc(22 * MIB, 1) } }),
      'insufficient_storage',
    );
    // What is announced and cannot fit takes nothing, so others go on.
    expect(freePages(root)).toBe(free);
    expect(attemptsOf(root)).toEqual([]);
    expect((await publish(url, idOf(3), EXAMPLE_ARRAYS)).status).toBe(201);
    const data = Array.from({ length: 22 }, () => Buffer.alloc(MIB, 1));
    const endless = store.publish(metadataOf(idOf(4)), { big: { dtype: 'uint8', data } });
    await expect(endless).rejects.toMatchObject({ code: 'insufficient_storage' });
    expect(freePages(root) * PAGE).toBeGreaterThanOrEqual(8 * MIB);
    fs.writeFileSync(join(root, 'ballast'), Buffer.alloc(freePages(root) * PAGE - 8 * MIB));
    const again = problemOf(await publish(url, idOf(5), EXAMPLE_ARRAYS), 'insufficient_storage');
    expect(again).not.toHaveProperty('attempt');
    expect(jsonOf(await ask(url, '/readyz')).code).toBe('unavailable');
    await expectReadable(url);
  });
});

describe.skipIf(!mountable)('a disk', () => {
  it('that has become read-only is read, and a publication fails clearly', async () => {
    const root = temporaryRoot();
    mountTmpfs(root, 'size=8m');
    const { url } = await appForTest({ root });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    remount(root, 'ro');
    try {
      const problem = problemOf(await publish(url, idOf(2), EXAMPLE_ARRAYS), 'unavailable');
      expect(problem.detail).toContain('EROFS');
      await expectReadable(url);
      expect((await ask(url, '/readyz')).status).toBe(503);
      // A service started over it reads as well.
      const second = await startApp({ root });
      await expectReadable(second.url);
      problemOf(await publish(second.url, idOf(2), EXAMPLE_ARRAYS), 'unavailable');
      await second.close();
    } finally {
      remount(root, 'rw');
    }
  });

  it('of which staging or snapshots is another mount is refused at the start in one line', async () => {
    for (const [room, how] of [
      ['staging', 'tmpfs'],
      ['snapshots', 'tmpfs'],
      ['staging', 'bind'],
      ['snapshots', 'bind'],
    ] as const) {
      const root = temporaryRoot();
      fs.mkdirSync(join(root, room));
      if (how === 'tmpfs') mountTmpfs(join(root, room), 'size=1m');
      else {
        fs.mkdirSync(join(root, 'elsewhere'));
        mountBind(join(root, 'elsewhere'), join(root, room));
      }
      const end = await runCommand(['serve', '--root', root, '--port', '0']);
      expect(end.status, `${room} ${how}`).toBe(1);
      expect(end.stderr.trim().split('\n'), `${room} ${how}`).toHaveLength(1);
      expect(end.stderr).toMatch(/different file systems or mounts/u);
    }
  });
});

type Place = (path: string, original: Buffer) => void;

/** What may lie where a file of a package should. */
const KINDS: Readonly<Record<string, Place>> = {
  'a link to the same bytes': (path, original) => {
    fs.writeFileSync(`${path}.elsewhere`, original);
    fs.renameSync(`${path}.elsewhere`, join(path, '../../..', 'elsewhere'));
    fs.symlinkSync('../../elsewhere', path);
  },
  'a dangling link': (path) => fs.symlinkSync('/nonexistent', path),
  'a link to itself': (path) => fs.symlinkSync(path, path),
  'a link to an endless device': (path) => fs.symlinkSync('/dev/zero', path),
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a directory': (path) => fs.mkdirSync(path),
  ...(mountable ? { 'a device': (path: string) => execFileSync('mknod', [path, 'c', '1', '5']) } : {}),
};

describe('a package in which', () => {
  it.each(Object.entries(KINDS))(
    '%s lies in the place of any file is refused by name, quickly',
    async (_what, place) => {
      const root = temporaryRoot();
      const { url } = await appForTest({ root });
      let number = 0;
      for (const file of [
        'manifest.json',
        'complete.sha256',
        'intent.json',
        'array-ids.bin',
        'array-none.bin',
      ]) {
        const id = idOf((number += 1));
        expect((await publish(url, id, EXAMPLE_ARRAYS)).status).toBe(201);
        const path = packagePath(root, id, file);
        const original = fs.readFileSync(path);
        fs.rmSync(path);
        place(path, original);
        const started = Date.now();
        for (const suffix of ['', '/manifest.json', '/complete.sha256', '/array-flags.bin', '/package.tar']) {
          expect(problemOf(await ask(url, `/snapshots/${id}${suffix}`), 'storage_integrity').status).toBe(
            500,
          );
        }
        const listing = problemOf(await ask(url, '/snapshots'), 'storage_integrity');
        expect(pathsOf(listing)).toContain(id);
        problemOf(await publish(url, id, EXAMPLE_ARRAYS), 'snapshot_exists');
        expect(Date.now() - started, file).toBeLessThan(5_000);
        fs.rmSync(packagePath(root, id), { recursive: true });
        fs.rmSync(join(root, 'elsewhere'), { force: true });
      }
    },
  );

  it.each(Object.entries(KINDS))(
    '%s lies in the place of the package itself is refused, and never replaced',
    async (_what, place) => {
      const root = temporaryRoot();
      const { url } = await appForTest({ root });
      place(packagePath(root, ID), Buffer.from('{}'));
      const before = fs.lstatSync(packagePath(root, ID)).ino;
      problemOf(await ask(url, `/snapshots/${ID}`), 'storage_integrity');
      expect(pathsOf(problemOf(await ask(url, '/snapshots'), 'storage_integrity'))).toContain(ID);
      problemOf(await publish(url, ID, EXAMPLE_ARRAYS), 'snapshot_exists');
      expect(fs.lstatSync(packagePath(root, ID)).ino).toBe(before);
    },
  );

  it.each(Object.entries(KINDS))(
    '%s lies in staging shows in /incomplete, anywhere, and hangs nobody',
    async (_what, place) => {
      const root = temporaryRoot();
      const { url } = await appForTest({ root });
      const names = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(32));
      place(join(root, 'staging', names[0]!), Buffer.from('{}'));
      for (const [at, file] of ['intent.json', 'manifest.json', 'array-x.bin'].entries()) {
        const attempt = join(root, 'staging', names[at + 1]!);
        fs.mkdirSync(attempt);
        if (file !== 'intent.json') fs.writeFileSync(join(attempt, 'intent.json'), `{"snapshot_id":"${ID}"}`);
        place(join(attempt, file), Buffer.from('{}'));
        fs.rmSync(join(root, 'elsewhere'), { force: true });
      }
      const { incomplete } = jsonOf(await ask(url, '/incomplete'));
      expect(incomplete.map((one: { path: string }) => one.path)).toEqual(
        names.map((name) => `staging/${name}`),
      );
      for (const { phase } of incomplete) expect(phase).toBe('INVALID');
      expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    },
  );
});

describe('foreign names', () => {
  const NAMES = [
    'two\nlines',
    'tab\there',
    '\u001b[31m',
    'ＦＵＬＬ',
    'con',
    '.hidden',
    ' ',
    'x'.repeat(255),
    ID.toUpperCase().replace('1', 'A'),
    '%2e',
  ];
  const INVALID = Buffer.from([0x66, 0xff, 0xfe, 0x80]);

  it('in snapshots/ fail every listing by name, escaped, and no read of a snapshot', async () => {
    const root = temporaryRoot();
    const { url } = await appForTest({ root });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    for (const name of NAMES) fs.mkdirSync(join(root, 'snapshots', name));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/snapshots/`), INVALID]), '');
    const answer = await ask(url, '/snapshots');
    const problem = problemOf(answer, 'storage_integrity');
    expect(problem.errors).toHaveLength(NAMES.length + 1);
    expect(activeCharactersIn(answer.body.toString())).toEqual([]);
    expect((await ask(url, `/snapshots/${ID}`)).status).toBe(200);
    problemOf(await ask(url, '/snapshots?limit=1'), 'storage_integrity');
  });

  it('in staging/ are all shown, escaped, in /incomplete and in its pages', async () => {
    const root = temporaryRoot();
    const { url } = await appForTest({ root });
    for (const name of NAMES) fs.mkdirSync(join(root, 'staging', name));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/staging/`), INVALID]), '');
    const answer = await ask(url, '/incomplete');
    const { incomplete } = jsonOf(answer);
    expect(incomplete).toHaveLength(NAMES.length + 1);
    for (const { phase } of incomplete) expect(['INVALID', 'UNAVAILABLE']).toContain(phase);
    expect(activeCharactersIn(answer.body.toString())).toEqual([]);
    const paged: string[] = [];
    for (let after = ''; ;) {
      const page = jsonOf(await ask(url, `/incomplete?limit=3${after}`));
      paged.push(...page.incomplete.map((one: { path: string }) => one.path));
      if (page.next === null) break;
      after = `&after=${encodeURIComponent(page.next)}`;
    }
    expect(paged).toEqual(incomplete.map((one: { path: string }) => one.path));
  });

  it('of two thousand leftover attempts are listed in seconds', async () => {
    const root = temporaryRoot();
    const { url } = await appForTest({ root });
    for (let number = 0; number < 2000; number += 1) {
      const attempt = join(root, 'staging', idOf(number));
      fs.mkdirSync(attempt);
      fs.writeFileSync(join(attempt, 'intent.json'), `{"snapshot_id":"${idOf(number)}"}`);
      if (number % 2 === 0) fs.writeFileSync(join(attempt, 'array-ids.bin'), 'x');
    }
    const started = Date.now();
    const { incomplete, next } = jsonOf(await ask(url, '/incomplete'));
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(incomplete).toHaveLength(2000);
    expect(next).toBe(null);
  });
});

describe('a package that changes while it is streamed', () => {
  const SIZE = 48 * MIB;
  const big = (root: string): string => packagePath(root, ID, 'array-big.bin');

  it.each<readonly [string, (root: string) => void]>([
    [
      'by one byte at its end',
      (root) => {
        const file = fs.openSync(big(root), 'r+');
        fs.writeSync(file, Buffer.from([0xff]), 0, 1, SIZE - 1);
        fs.closeSync(file);
      },
    ],
    [
      'by one byte, with its times put back',
      (root) => {
        const { atime, mtime } = fs.statSync(big(root));
        const file = fs.openSync(big(root), 'r+');
        fs.writeSync(file, Buffer.from([0xff]), 0, 1, SIZE - 1);
        fs.closeSync(file);
        fs.utimesSync(big(root), atime, mtime);
      },
    ],
    [
      'by being cut',
      (root) => {
        fs.truncateSync(big(root), SIZE - MIB);
      },
    ],
    [
      'by growing',
      (root) => {
        fs.appendFileSync(big(root), 'x');
      },
    ],
    [
      'by another file that takes its name',
      (root) => {
        fs.writeFileSync(join(root, 'other'), Buffer.alloc(SIZE, 9));
        fs.renameSync(join(root, 'other'), big(root));
      },
    ],
  ])('%s never ends cleanly with other bytes', async (_what, change) => {
    const { url, root } = await appForTest();
    const bytes = Buffer.from(pattern(SIZE));
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    for (const [target, range] of [
      ['array-big.bin', []],
      ['array-big.bin', ['Range: bytes=1-']],
      ['array-big.npy', []],
      ['package.tar', []],
    ] as const) {
      const wire = await Wire.open(url);
      await wire.send(head('GET', `/snapshots/${ID}/${target}`, range));
      await eventually('the download begins', () => wire.receivedLength > MIB, 15_000);
      wire.socket.pause();
      change(root);
      wire.socket.resume();
      const answer = await wire.answer(15_000);
      // An answer that is whole is one whose every byte is what was published.
      if (answer !== undefined) {
        const start = answer.body.indexOf(bytes.subarray(1, 4096));
        expect(answer.body.subarray(start, start + SIZE - 1).equals(bytes.subarray(1)), target).toBe(true);
        expect(_what).toBe('by another file that takes its name');
      }
      expect(await wire.closed(), target).toBe(answer === undefined);
      wire.destroy();
      problemOf(await ask(url, `/snapshots/${ID}`), 'storage_integrity');
      fs.writeFileSync(big(root), bytes);
    }
  });
});
