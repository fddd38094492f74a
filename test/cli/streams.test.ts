/** What becomes of the command when what it writes to, or reads from, is a pipe, is full or has gone. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { SnapshotClient } from '../../src/client/index.ts';
import { metadataOf, temporaryDirectory } from '../client/running-service.ts';
import { savedArray } from '../support/npy-files.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf } from '../support/stores.ts';
import { COMMAND, run } from './command.ts';

const ID = idOf(1);
let service: RunningApp;
let client: SnapshotClient;

beforeAll(async () => {
  service = await startApp();
  client = new SnapshotClient(service.url);
  await client.publish(metadataOf(ID), { ids: new Uint8Array(2_000_000), few: Int32Array.of(1, 2) });
  return async () => {
    await client.close();
    await service.close();
  };
});

const bash = (script: string, cwd = temporaryDirectory()) =>
  run(['-c', script, process.execPath, COMMAND], {
    cwd,
    program: 'bash',
    env: { SNAPSHOTS_URL: service.url, TMPDIR: cwd },
  });

const VERBS = [
  'ls',
  'ls --json',
  `show ${ID}`,
  `show ${ID} --json`,
  `get ${ID} ids -o -`,
  '--help',
  'completion bash',
];

test.skipIf(!fs.existsSync('/dev/full'))(
  'every verb ends with one line and 1 where standard output is full, and quietly with 0 where its reader has gone',
  async () => {
    // One shell for all: `sleep` opens the pipe and closes it before anything is written.
    const script = VERBS.map(
      (verb) =>
        `"$0" "$1" ${verb} > /dev/full; echo "$?"; "$0" "$1" ${verb} | true; echo "\${PIPESTATUS[0]}"`,
    ).join('\n');
    const { out, err } = await bash(script);
    expect(out.trim().split('\n')).toEqual(VERBS.flatMap(() => ['1', '0']));
    const line = 'pipewhy-snapshots: standard output cannot be written (ENOSPC)';
    const document = /^\{"type":"about:blank".*"detail":"standard output cannot be written \(ENOSPC\)".*\}$/u;
    const told = err.trim().split('\n');
    expect(told).toHaveLength(VERBS.length);
    for (const [index, verb] of VERBS.entries())
      expect(told[index]).toMatch(
        verb.includes('--json') ? document : new RegExp(`^${line.replace(/[()]/gu, '\\$&')}$`, 'u'),
      );
  },
);

test.skipIf(!fs.existsSync('/dev/full'))(
  'a refusal keeps its status although nobody can be told',
  async () => {
    const { out } = await bash(
      `"$0" "$1" show ${idOf(9)} 2> /dev/full; echo $?; "$0" "$1" ls --limit 0 2> /dev/full; echo $?`,
    );
    expect(out).toBe('3\n2\n');
  },
);

test('what was found keeps its status although its reader has gone', async () => {
  const root = join(temporaryDirectory(), 'root');
  fs.mkdirSync(join(root, 'snapshots', 'stray'), { recursive: true });
  const { out } = await bash(`"$0" "$1" verify ${root} | true; echo "\${PIPESTATUS[0]}"`);
  expect(out).toBe('1\n');
});

describe('publish', () => {
  test('takes arrays from pipes and standard input, and leaves no copy behind', async () => {
    const cwd = temporaryDirectory();
    const raw = Buffer.from(new BigInt64Array([-1n, 2n ** 62n]).buffer);
    fs.writeFileSync(join(cwd, 'raw'), raw);
    fs.writeFileSync(join(cwd, 'saved'), savedArray('int64', raw));
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(idOf(2))));
    execFileSync('mkfifo', [join(cwd, 'fifo')]);
    const { code, out, err } = await bash(
      `cat raw > fifo & "$0" "$1" publish --metadata meta.json a=<(cat raw):int64 b=fifo:int64 c=<(cat saved) d=saved e=-:int64 < <(cat raw)`,
      cwd,
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^published .* \(5 arrays, 80 B\)$/mu);
    const { arrays } = await client.open(idOf(2));
    for (const key of 'abcde') expect(arrays[key]).toEqual(BigInt64Array.of(-1n, 2n ** 62n));
    expect(fs.readdirSync(cwd).sort()).toEqual(['fifo', 'meta.json', 'raw', 'saved']);
  });

  test('keeps no copy where it cannot be kept whole, and says what to do', async () => {
    const cwd = temporaryDirectory();
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(idOf(3))));
    const { code, err } = await bash(
      'ulimit -f 64; "$0" "$1" publish --metadata meta.json a=<(head -c 200000 /dev/zero):uint8',
      cwd,
    );
    expect(code).toBe(1);
    expect(err).toMatch(
      /^pipewhy-snapshots: arrays\.a: \/dev\/fd\/\d+ cannot be kept in .* \(the copy cannot be written beyond its first 65536 bytes \(EFBIG\)\); free space there, or name another directory in TMPDIR\n$/u,
    );
    expect(fs.readdirSync(cwd)).toEqual(['meta.json']);
  });

  test.each([
    ['a pipe in which nothing comes', 'a=<(cat meta.json; exec sleep 600 2> /dev/null):uint8', 'a.spool'],
    ['a pipe to which nobody writes', 'a=pipe:uint8', ''],
  ])('interrupted over %s, it ends at once and removes its copy', async (_, source, copy) => {
    const cwd = temporaryDirectory();
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(idOf(3))));
    const { out, err } = await bash(
      `mkfifo pipe; "$0" "$1" publish --metadata meta.json ${source} & pid=$!
       until ls pipewhy-snapshots-*/${copy} > /dev/null 2>&1; do sleep 0.05; done
       kill -TERM $pid; wait $pid; echo $?; kill %2 2> /dev/null; ls`,
      cwd,
    );
    expect(out).toBe('143\nmeta.json\npipe\n');
    expect(err).toContain('pipewhy-snapshots: interrupted: nothing was published');
  });

  test('a file that begins as a .npy file is one, whatever its name, or is refused', async () => {
    const cwd = temporaryDirectory();
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(idOf(4))));
    fs.writeFileSync(join(cwd, 'x'), savedArray('int16', Buffer.from([1, 0, 2, 0])));
    fs.writeFileSync(join(cwd, 'cut'), savedArray('int16', Buffer.from([1, 0, 2, 0])).subarray(0, -1));
    fs.writeFileSync(join(cwd, 'raw.npy'), Buffer.alloc(8));
    const publish = '"$0" "$1" publish --metadata meta.json';
    const { out, err } = await bash(
      `${publish} a=cut; echo $?; ${publish} a=raw.npy:int8; echo $?; ${publish} a=x:int8; echo $?; ${publish} a=x; echo $?`,
      cwd,
    );
    expect(out.split('\n').filter((line) => /^\d$/u.test(line))).toEqual(['1', '1', '1', '0']);
    expect(err).toContain('cut holds 3 bytes of payload; its header announces 4');
    expect(err).toContain('raw.npy: the .npy file does not begin like a .npy file');
    expect(err).toContain('is given as int8, but the header of x says int16');
    expect(await client.array(idOf(4), 'a')).toEqual(Int16Array.of(1, 2));
  });

  test('a metadata document without an end is refused before it fills the memory', async () => {
    const { code, err } = await run(['publish', '--metadata', '/dev/zero', '--url', service.url]);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'pipewhy-snapshots: the metadata in /dev/zero cannot be read (it is longer than 67108864 bytes)\n',
    });
  });
});

test('arrays are written as .npy files where the ending or --npy says so, and published again from there', async () => {
  const cwd = temporaryDirectory();
  const { code, out } = await bash(
    `"$0" "$1" get ${ID} few -o few.npy --json && "$0" "$1" get ${ID} few --npy && "$0" "$1" get ${ID} few --npy -o - > piped &&
     "$0" "$1" get ${ID} few -o few.npy && "$0" "$1" get ${ID} few -o raw`,
    cwd,
  );
  expect(code).toBe(0);
  const saved = savedArray('int32', Buffer.from(Int32Array.of(1, 2).buffer));
  for (const name of ['few.npy', 'array-few.npy', 'piped']) {
    const file = fs.readFileSync(join(cwd, name));
    expect(file.subarray(0, 6).toString('latin1')).toBe('\x93NUMPY');
    expect(file.subarray(-8)).toEqual(saved.subarray(-8));
    expect(file.length % 64).toBe(8);
  }
  expect(fs.readFileSync(join(cwd, 'raw'))).toEqual(saved.subarray(-8));
  expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({ format: 'npy', count: 2, dtype: 'int32' });
  expect(out).toMatch(/^present few\.npy /mu);
});

test.each([
  [
    'a wrong base path',
    (url: string) => `${url}/wrong`,
    /^pipewhy-snapshots: No snapshot service answers under this URL: check the path in --url \(SNAPSHOTS_URL\)\.\n$/u,
  ],
  [
    'https to a port that speaks http',
    (url: string) => url.replace('http:', 'https:'),
    /^pipewhy-snapshots: https:\/\/\S+: what listens there does not speak TLS; use http:\/\/ instead of https:\/\/ \(\w+\)\.\n$/u,
  ],
])('%s ends with 5 and one plain sentence', async (_, change, message) => {
  const { code, err } = await run(['show', ID, '--url', change(service.url)]);
  expect(code).toBe(5);
  expect(err).toMatch(message);
});

test('refusals name commands, and statuses are in the help of all', async () => {
  const absent = await run(['show', idOf(9), '--url', service.url]);
  expect(absent.err).toContain('pipewhy-snapshots ls lists what is');
  expect(absent.err).not.toMatch(/GET|\/snapshots|\/incomplete/u);
  const array = await run(['get', ID, 'other', '--url', service.url]);
  expect(array.err).toContain(`pipewhy-snapshots show ${ID} names those it has.`);
  const help = await run(['--help']);
  for (const status of [0, 1, 2, 3, 4, 5, 6, 130])
    expect(help.out).toMatch(new RegExp(`^ *${status}  \\w`, 'mu'));
});
