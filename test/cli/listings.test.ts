import fs from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import {
  clientOf,
  corrupt,
  metadataOf,
  startService,
  temporaryDirectory,
} from '../client/running-service.ts';
import { idOf } from '../support/stores.ts';
import { COMMAND, run } from './command.ts';

const IDS = [1, 2, 3].map(idOf);
const CONTEXTS = new URL('../vectors/contexts.json', import.meta.url).pathname;

async function published() {
  const service = await startService();
  const client = clientOf(service.url);
  for (const [index, id] of IDS.entries()) {
    const changes = {
      source_namespace: `ns${index % 2}`,
      scope: 'red \u001b[31m\n',
      parent_id: index === 0 ? null : IDS[0],
    };
    await client.publish(metadataOf(id, changes), { ids: Int32Array.of(index), flags: new Uint8Array(2000) });
  }
  await client
    .publish(metadataOf(idOf(9)), { ids: { dtype: 'int64', data: Buffer.alloc(9) } })
    .catch(() => undefined);
  return { ...service, client };
}

test('ls prints one line with tabs for each snapshot, and nothing can steer the terminal', async () => {
  const { url } = await published();
  const { code, out } = await run(['ls', '--url', url]);
  expect(code).toBe(0);
  const rows = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(rows.map(([id]) => id)).toEqual(IDS);
  expect(rows[0]).toEqual([
    IDS[0],
    'ns0',
    'v1',
    'red \\u001b[31m\\u000a',
    'COMPLETE',
    '2025-10-30T00:00:01.000000001Z',
    '2',
    '2004',
  ]);
});

test('ls filters, limits, and gives the summaries of the service as JSON', async () => {
  const { url, client } = await published();
  const ids = async (...args: string[]) => {
    const { out } = await run(['ls', '--url', url, '--json', ...args]);
    return (JSON.parse(out).snapshots as { snapshot_id: string }[]).map((summary) => summary.snapshot_id);
  };
  expect(await ids('--namespace', 'ns0')).toEqual([IDS[0], IDS[2]]);
  expect(await ids('--parent', IDS[0]!)).toEqual([IDS[1], IDS[2]]);
  expect(await ids('--limit', '2')).toEqual([IDS[0], IDS[1]]);
  const { out } = await run(['ls', '--url', url, '--json']);
  expect(JSON.parse(out).snapshots).toEqual((await client.listPage()).items);
});

test('show tells everything of a snapshot, and its JSON is the exact manifest', async () => {
  const { url, client } = await published();
  const { manifestSha256 } = await client.manifest(IDS[1]!);
  const human = await run(['show', IDS[1]!, '--url', url]);
  for (const part of [
    IDS[1]!,
    IDS[0]!,
    'ns1',
    'COMPLETE, 3 of 3 records',
    'example-context',
    manifestSha256,
    'uint8',
  ]) {
    expect(human.out).toContain(part);
  }
  expect(human.out).not.toContain('\u001b');
  const json = await run(['show', IDS[1]!, '--url', url, '--json']);
  expect(sha256Hex(json.stdout)).toBe(manifestSha256);
});

test('incomplete says the same of a service and of its store on disk', async () => {
  const { url, root } = await published();
  const remote = await run(['incomplete', '--url', url, '--json']);
  const local = await run(['incomplete', '--root', root, '--contexts', CONTEXTS, '--json']);
  expect(JSON.parse(remote.out).incomplete).toMatchObject([{ snapshot_id: idOf(9), phase: 'STAGING' }]);
  expect(local).toMatchObject({ code: 0, err: '' });
  // Why it was refused is known to the process that refused it, and to no other.
  const told = (out: string) => JSON.parse(out).incomplete[0] as { readonly diagnostic: string };
  const { diagnostic: byService, ...ofService } = told(remote.out);
  const { diagnostic: byDisk, ...ofDisk } = told(local.out);
  expect(ofDisk).toEqual(ofService);
  expect(byService.startsWith(byDisk)).toBe(true);
  expect(byService.slice(byDisk.length)).toMatch(/refused with array_mismatch: arrays\.ids/u);
});

/** Every name, size, time and content under a directory. */
function everything(root: string): readonly string[] {
  return fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = fs.statSync(join(root, name));
      const content = stat.isFile() ? sha256Hex(fs.readFileSync(join(root, name))) : '';
      return `${name} ${stat.mode} ${stat.mtimeMs} ${stat.ctimeMs} ${content}`;
    });
}

test('verify proves a store without a service, and changes nothing in it', async () => {
  const { root } = await published();
  const before = everything(root);
  const human = await run(['verify', root, '--contexts', CONTEXTS]);
  expect(human).toMatchObject({ code: 0, err: '' });
  expect(human.out).toMatch(/^All 3 snapshots are valid \(5\.9 KiB\)\.\n1 attempt was left in staging/u);
  const json = await run(['verify', root, '--json'], { env: { SNAPSHOTS_CONTEXTS: CONTEXTS } });
  expect(JSON.parse(json.out)).toMatchObject({
    valid: true,
    checked: 3,
    byte_length: '6012',
    problems: [],
    incomplete: [{ snapshot_id: idOf(9), phase: 'STAGING' }],
  });
  expect(everything(root)).toEqual(before);
});

test('verify names every entry that does not hold, and why, and ends with 1', async () => {
  const { root } = await published();
  corrupt(join(root, 'snapshots', IDS[0]!, 'array-flags.bin'));
  fs.rmSync(join(root, 'snapshots', IDS[2]!, 'complete.sha256'));
  fs.writeFileSync(join(root, 'snapshots', 'stray'), '');
  const human = await run(['verify', root, '--contexts', CONTEXTS]);
  expect(human.code).toBe(1);
  expect(human.out).toMatch(new RegExp(`^snapshots/${IDS[0]}: checksum: `, 'mu'));
  expect(human.out).toMatch(/^snapshots\/stray: foreign: /mu);
  expect(human.out).toMatch(/^3 of 4 entries cannot be proven\.$/mu);
  const json = await run(['verify', root, '--contexts', CONTEXTS, '--json', '--jobs', '1']);
  expect(json.code).toBe(1);
  const { problems, valid } = JSON.parse(json.out);
  expect(valid).toBe(false);
  expect(problems.map(({ path }: { path: string }) => path)).toEqual([
    `snapshots/${IDS[0]}`,
    `snapshots/${IDS[2]}`,
    'snapshots/stray',
  ]);
  const one = await run(['verify', root, IDS[1]!, '--contexts', CONTEXTS]);
  expect(one).toMatchObject({ code: 0 });
  const absent = await run(['verify', root, idOf(7), '--contexts', CONTEXTS, '--json']);
  expect(absent.code).toBe(1);
  expect(JSON.parse(absent.out).problems).toMatchObject([{ code: 'snapshot_not_found' }]);
});

test('verify of what is no store, or with declarations that are none, ends with 2', async () => {
  const root = temporaryDirectory();
  const none = await run(['verify', root, '--contexts', CONTEXTS]);
  expect(none.code).toBe(2);
  expect(none.err).toContain('is no store: its directory snapshots cannot be listed (ENOENT)');
  expect(fs.readdirSync(root)).toEqual([]);
  fs.mkdirSync(join(root, 'snapshots'));
  for (const [contexts, message] of [
    ['/nowhere.json', 'cannot be read: the file does not exist (ENOENT)'],
    [COMMAND, 'cannot be used'],
  ] as const) {
    const { code, err } = await run(['verify', root, '--contexts', contexts]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  }
  const empty = await run(['verify', root]);
  expect(empty).toMatchObject({ code: 0, out: 'All 0 snapshots are valid (0 B).\n' });
  expect(empty.err).toContain('the shipped example is in force');
});

test('a reader that has seen enough ends the command quietly', async () => {
  const { url } = await published();
  const child = spawnSync(
    'sh',
    ['-c', `"$0" "$1" completion fish | head -n 1; "$0" "$1" --version`, process.execPath, COMMAND],
    {
      env: { ...process.env, SNAPSHOTS_URL: url },
      encoding: 'utf8',
    },
  );
  expect(child.stderr).toBe('');
  expect(child.stdout).toMatch(/^# fish completion for pipewhy-snapshots\n\d+\.\d+\.\d+\n$/u);
});

test.each(['publish', 'get', 'ls', 'show', 'verify', 'incomplete', 'completion', 'serve'])(
  'help of %s has examples, and exit statuses where they differ',
  async (name) => {
    const { code, out } = await run([name, '--help']);
    expect(code).toBe(0);
    expect(out).toContain('Examples:\n  ');
    if (name !== 'serve' && name !== 'completion') expect(out).toMatch(/Exit status:\n {2}0 {2}/u);
  },
);

function bashCompletes(words: readonly string[]): readonly string[] {
  const { out } = completionScript('bash');
  const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pipewhy_snapshots; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const result = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(result.stderr).toBe('');
  return result.stdout.split('\n').filter((word) => word !== '');
}

function completionScript(shell: string) {
  const result = spawnSync(process.execPath, [COMMAND, 'completion', shell], { encoding: 'utf8' });
  return { out: result.stdout, code: result.status };
}

test('bash completes commands, their flags and the words a flag takes', () => {
  expect(bashCompletes(['pipewhy-snapshots', 's'])).toEqual(['serve', 'show']);
  expect(bashCompletes(['pipewhy-snapshots', 'verify', '--j'])).toEqual(['--json', '--jobs']);
  expect(bashCompletes(['pipewhy-snapshots', 'publish', '--if-exists', ''])).toEqual(['fail', 'confirm']);
  expect(bashCompletes(['pipewhy-snapshots', 'get', '--output', ''])).toEqual([]);
  expect(bashCompletes(['pipewhy-snapshots', 'completion', 'z'])).toEqual(['zsh']);
});

test.each(['zsh', 'fish'])('the %s script names every command and flag', (shell) => {
  const { out, code } = completionScript(shell);
  expect(code).toBe(0);
  for (const word of ['serve', 'publish', 'verify', 'if-exists', 'max-arrays', 'jobs'])
    expect(out).toContain(word);
  const file = join(temporaryDirectory(), 'script');
  fs.writeFileSync(file, out);
  const checked = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  // Where the shell is there, it must find no mistake in the script.
  if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: '' });
});
