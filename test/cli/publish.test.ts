import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { faultyProxy, loseAnswer, problem } from '../client/faulty-proxy.ts';
import { clientOf, metadataOf, startService, temporaryDirectory } from '../client/running-service.ts';
import { savedArray } from '../support/npy-files.ts';
import { idOf } from '../support/stores.ts';
import { run } from './command.ts';

const ID = idOf(1);

function files(document: object = { snapshot: metadataOf(ID) }) {
  const cwd = temporaryDirectory();
  fs.writeFileSync(join(cwd, 'ids.bin'), new BigInt64Array([-1n, 2n ** 62n]));
  fs.writeFileSync(join(cwd, 'array-flags.bin'), Buffer.from([0, 1, 255]));
  fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(document));
  return cwd;
}

test('publish stores the files it is given, and says what became of them', async () => {
  const { url } = await startService();
  const cwd = files();
  const args = [
    'publish',
    '--url',
    url,
    '--metadata',
    'meta.json',
    'ids=ids.bin:int64',
    'flags=array-flags.bin:uint8',
  ];
  const { code, out, err } = await run(args, { cwd });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const opened = await clientOf(url).open(ID);
  expect({ ...opened.arrays }).toEqual({
    ids: BigInt64Array.of(-1n, 2n ** 62n),
    flags: Uint8Array.of(0, 1, 255),
  });
  expect(out).toBe(`published ${ID} (2 arrays, 19 B)\nmanifest sha256 ${opened.manifestSha256}\n`);
});

test('publish takes dtypes from the document, metadata from standard input and the address from the environment', async () => {
  const { url } = await startService({ token: 'secret-1' });
  const cwd = files();
  const document = { snapshot: metadataOf(ID), arrays: { ids: { dtype: 'uint64' } } };
  const { code, out } = await run(['publish', '--metadata', '-', '--json', 'ids=ids.bin'], {
    cwd,
    input: JSON.stringify(document),
    env: { SNAPSHOTS_URL: url, SNAPSHOTS_TOKEN: 'secret-1' },
  });
  expect(code).toBe(0);
  const { manifestSha256 } = await clientOf({ baseUrl: url, token: 'secret-1' }).manifest(ID);
  expect(JSON.parse(out)).toEqual({
    outcome: 'published',
    snapshot_id: ID,
    manifest_sha256: manifestSha256,
    array_count: 1,
    byte_length: '16',
    attempts: 1,
    confirmed_after: null,
  });
});

test('publish --dir publishes a stored package again, byte for byte', async () => {
  const first = await startService();
  const { manifestSha256 } = await clientOf(first.url).publish(metadataOf(ID), {
    ids: Int16Array.of(1),
    flags: Uint8Array.of(2),
  });
  const second = await startService();
  const { code } = await run(['publish', '--url', second.url, '--dir', join(first.root, 'snapshots', ID)]);
  expect(code).toBe(0);
  expect((await clientOf(second.url).manifest(ID)).manifestSha256).toBe(manifestSha256);
});

test('.npy files are given like others, and say their own dtypes', async () => {
  const { url } = await startService();
  const cwd = files();
  fs.writeFileSync(join(cwd, 'ids.npy'), savedArray('int64', fs.readFileSync(join(cwd, 'ids.bin'))));
  const args = (id: string, ...arrays: string[]) => {
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(id)));
    return ['publish', '--url', url, '--metadata', 'meta.json', ...arrays];
  };
  expect(await run(args(ID, 'ids=ids.npy', 'flags=array-flags.bin:uint8'), { cwd })).toMatchObject({
    code: 0,
  });
  expect(await clientOf(url).array(ID, 'ids')).toEqual(BigInt64Array.of(-1n, 2n ** 62n));
  const wrong = await run(args(idOf(2), 'ids=ids.npy:int32'), { cwd });
  expect(wrong.code).toBe(1);
  expect(wrong.err).toBe(
    'pipewhy-snapshots: arrays.ids: is given as int32, but the header of ids.npy says int64; leave the dtype out, or ' +
      "save a.astype('<i4').\n",
  );
});

test('publish --dir takes .npy files as well, but one array only once', async () => {
  const { url } = await startService();
  const cwd = temporaryDirectory();
  fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(ID)));
  fs.writeFileSync(join(cwd, 'array-ids.npy'), savedArray('int16', Buffer.from([1, 0, 2, 0])));
  const args = ['publish', '--url', url, '--metadata', 'meta.json', '--dir', '.'];
  expect(await run(args, { cwd })).toMatchObject({ code: 0 });
  expect(await clientOf(url).array(ID, 'ids')).toEqual(Int16Array.of(1, 2));
  fs.writeFileSync(join(cwd, 'array-ids.bin'), '');
  const twice = await run(args, { cwd });
  expect(twice).toMatchObject({ code: 1 });
  expect(twice.err).toContain('--dir . holds the array ids both as .bin and as .npy; keep one of them there');
});

test('a refusal ends with 1, its code and every violation', async () => {
  const { url } = await startService();
  const cwd = files({ snapshot: metadataOf(ID, { scope: '', resolution: 'cell' }) });
  const args = ['publish', '--url', url, '--metadata', 'meta.json'];
  const human = await run(args, { cwd });
  expect(human.code).toBe(1);
  expect(human.out).toBe('');
  expect(human.err).toMatch(/^pipewhy-snapshots: snapshot\.scope: /u);
  expect(human.err).toMatch(/^ {2}snapshot\.resolution: must be one of /mu);
  const json = await run([...args, '--json'], { cwd });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.err)).toMatchObject({ code: 'contract_violation', status: 422 });
});

test('a taken id ends with 1, and with 0 if the same snapshot is to be confirmed', async () => {
  const { url } = await startService();
  const cwd = files();
  const args = ['publish', '--url', url, '--metadata', 'meta.json', 'ids=ids.bin:int64'];
  expect((await run(args, { cwd })).code).toBe(0);
  const again = await run([...args, '--json'], { cwd });
  expect(again.code).toBe(1);
  expect(JSON.parse(again.err)).toMatchObject({ code: 'snapshot_exists', snapshot_id: ID });
  const confirmed = await run([...args, '--if-exists', 'confirm'], { cwd });
  expect(confirmed.code).toBe(0);
  expect(confirmed.out).toMatch(/^confirmed [0-9a-f]{32} \(1 array, 16 B\)$/mu);
  expect(confirmed.err).toBe(
    'The snapshot was there before; what is stored was proven to be exactly this one.\n',
  );
});

test('a taken id is answered with both digests, and with what confirming would do', async () => {
  const { url } = await startService();
  const cwd = files();
  const args = ['publish', '--url', url, '--metadata', 'meta.json'];
  await run([...args, 'ids=ids.bin:int64'], { cwd });
  const { manifestSha256 } = await clientOf(url).manifest(ID);
  const same = await run([...args, 'ids=ids.bin:int64'], { cwd });
  expect(same.err.match(/[0-9a-f]{64}/gu)).toEqual([manifestSha256, manifestSha256]);
  expect(same.err).toContain('--if-exists confirm it is a success');
  const other = await run([...args, 'ids=ids.bin:uint64'], { cwd });
  const [stored, computed] = other.err.match(/[0-9a-f]{64}/gu) ?? [];
  expect(stored).toBe(manifestSha256);
  expect(computed).not.toBe(manifestSha256);
  expect(other.err).toContain('They differ, so --if-exists confirm would refuse it too');
  const json = await run([...args, 'ids=ids.bin:uint64', '--json'], { cwd });
  expect(JSON.parse(json.err)).toMatchObject({
    manifest_sha256: stored,
    computed_manifest_sha256: computed,
  });
});

test('one violation is told once, and a missing token by the names it can be given under', async () => {
  const { url } = await startService({ token: 'secret-1' });
  const cwd = files();
  const untyped = await run(['publish', '--metadata', 'meta.json', 'ids=ids.bin'], { cwd });
  expect(untyped.err).toBe(
    'pipewhy-snapshots: arrays.ids.dtype: is given neither with the array nor in the metadata\n',
  );
  const closed = await run(['ls', '--url', url]);
  expect(closed.code).toBe(1);
  expect(closed.err).toContain('--token or, better, SNAPSHOTS_TOKEN');
});

test('the socket of the environment is used, but not where a flag names a URL', async () => {
  const { url } = await startService();
  const env = { SNAPSHOTS_SOCKET: join(temporaryDirectory(), 'nobody') };
  expect((await run(['ls'], { env })).code).toBe(5);
  expect((await run(['ls'], { env })).err).toMatch(/nobody|socket/u);
  expect((await run(['ls', '--url', url], { env })).code).toBe(0);
  expect((await run(['ls', '--help'])).out).toContain('SNAPSHOTS_SOCKET');
});

test('a lost answer is followed up, and an outcome that stays unknown ends with 6', async () => {
  const { url } = await startService();
  const cwd = files();
  const args = (proxy: string) => ['publish', '--url', proxy, '--metadata', 'meta.json', 'ids=ids.bin:int64'];
  const lost = await run(args((await faultyProxy(url, [loseAnswer])).url), { cwd });
  expect(lost.code).toBe(0);
  expect(lost.out).toMatch(/^confirmed /u);
  expect(lost.err).toContain('What is stored was proven to be exactly this snapshot');
  const dead = await faultyProxy((await startService()).url, [
    loseAnswer,
    ...Array.from({ length: 30 }, () => problem(503, 'unavailable')),
  ]);
  const unknown = await run(args(dead.url), { cwd });
  expect(unknown.code).toBe(6);
  expect(unknown.err).toContain('whether it is published is unknown');
});

test.each([
  [['publish'], 'the metadata is missing'],
  [['publish', '--metadata', 'meta.json', 'ids'], 'expected an array as key=path[:dtype]'],
  [['publish', '--metadata', 'meta.json', 'Ids=ids.bin'], '"Ids" is no array key'],
  [['publish', '--metadata', 'meta.json', 'ids=ids.bin:float64'], '"float64" is no dtype'],
  [['publish', '--metadata', 'meta.json', 'a=ids.bin:int8', 'a=ids.bin:int8'], 'the array a is given twice'],
  [['publish', '--metdata', 'meta.json'], '(Did you mean --metadata?)'],
  [['publish', '--if-exists', 'maybe'], 'Allowed choices are fail, confirm'],
  [['publsh'], '(Did you mean publish?)'],
  [['ls', '--limit', '0'], 'Expected a whole number of at least 1'],
  [['ls', '--timeout', 'soon'], 'Expected a number greater than 0'],
  [['ls', '--url', 'nonsense'], '--url (SNAPSHOTS_URL) must be an http:// or https:// URL; found "nonsense"'],
  [['ls', '--token', 'a b'], '--token (SNAPSHOTS_TOKEN) must be visible ASCII'],
  [['ls', '--parent', 'zz'], 'A snapshot id is 32 lowercase hex digits, the first of them, latest or'],
  [['show', 'not-an-id'], 'latest or latest:<namespace>; found "not-an-id"'],
  [['get', 'latest:'], 'latest:<namespace>; found "latest:"'],
  [['show'], "missing required argument 'id'"],
  [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish'],
])('wrong use %j ends with 2 and says %j', async (args, message) => {
  const { code, out, err } = await run(args, { cwd: files() });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
});

test.each([
  [['publish', '--json'], 'usage', 'the metadata is missing'],
  [['publish', '--json', '--metdata', 'x'], 'usage', "unknown option '--metdata' (Did you mean --metadata?)"],
  [['ls', '--limit', '0', '--json'], 'usage', 'Expected a whole number of at least 1'],
  [['ls', '--json', '--url', 'nonsense'], 'invalid_option', '--url (SNAPSHOTS_URL) must be an http:// or'],
  [['show', '--json'], 'usage', "missing required argument 'id'"],
  [['show', '--json', 'not-an-id'], 'invalid_snapshot_id', 'A snapshot id is 32 lowercase hex digits'],
  [['verify', '--json', 'nowhere'], 'usage', 'nowhere is no store'],
])('with --json wrong use %j is one problem document', async (args, code, detail) => {
  const finished = await run(args, { cwd: files() });
  expect(finished).toMatchObject({ code: 2, out: '' });
  const document = finished.err.trimEnd().split('\n').at(-1) ?? '';
  const problem = JSON.parse(document);
  expect(problem).toMatchObject({ code, type: expect.any(String), title: expect.any(String) });
  expect(problem.detail).toContain(detail);
});

test('a file that is no strict JSON, or is not there, is named', async () => {
  const { url } = await startService();
  const cwd = files();
  fs.writeFileSync(join(cwd, 'twice.json'), '{"snapshot":{},"snapshot":{}}');
  const twice = await run(['publish', '--url', url, '--metadata', 'twice.json'], { cwd });
  expect(twice.code).toBe(1);
  expect(twice.err).toContain('twice.json is not strict JSON. Line 1, column 16');
  const gone = await run(['publish', '--url', url, '--metadata', 'meta.json', 'ids=gone.bin:int8'], { cwd });
  expect(gone.code).toBe(1);
  expect(gone.err).toContain('arrays.ids: gone.bin cannot be read (ENOENT)');
  const folder = await run(['publish', '--url', url, '--metadata', 'meta.json', 'ids=.:int8'], { cwd });
  expect(folder.code).toBe(1);
  expect(folder.err).toContain('arrays.ids: . is a directory; an array is one file');
  for (const [args, message] of [
    [['--metadata', 'none.json'], 'the metadata in none.json cannot be read (ENOENT)'],
    [['--dir', 'nowhere'], '--dir nowhere cannot be listed (ENOENT)'],
  ] as const) {
    const { code, err } = await run(['publish', ...args], { cwd });
    expect({ code, err }).toEqual({ code: 1, err: `pipewhy-snapshots: ${message}\n` });
  }
});

test('nobody listening ends with 5 in one line', async () => {
  const { code, err } = await run(['ls', '--url', 'http://127.0.0.1:9']);
  expect(code).toBe(5);
  expect(err).toBe('pipewhy-snapshots: http://127.0.0.1:9: nothing listens there (ECONNREFUSED).\n');
  const json = await run(['ls', '--url', 'http://127.0.0.1:9', '--json']);
  expect(JSON.parse(json.err)).toEqual({
    type: 'about:blank',
    title: 'The service cannot be reached',
    detail: 'http://127.0.0.1:9: nothing listens there (ECONNREFUSED).',
    code: 'connection_failed',
  });
});

test('a unix socket that cannot be used is told with what is wrong about it', async () => {
  const cwd = temporaryDirectory();
  fs.writeFileSync(join(cwd, 'file'), '');
  for (const [socket, code, message] of [
    ['none/x.sock', 5, 'the folder of this socket does not exist; check the path (ENOENT)'],
    [
      'x.sock',
      5,
      'there is no such socket; check the path, and that the service was started with --socket (ENOENT)',
    ],
    ['file/x.sock', 5, 'what should be the folder of this socket is a file; check the path (ENOTDIR)'],
    ['file', 5, 'this is no socket; check the path (ECONNREFUSED)'],
    ['x'.repeat(108), 2, '--socket (SNAPSHOTS_SOCKET) is longer than the 107 bytes'],
  ] as const) {
    const { code: ended, err } = await run(['ls', '--socket', socket], { cwd });
    expect(err).toContain(message);
    expect(ended).toBe(code);
  }
});
