/** How people find a snapshot: a listing that fits their terminal, the first digits of an id, the latest, completion. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { printTable, type Column } from '../../src/cli/output.ts';
import { beginningWith, resolveId } from '../../src/cli/connection.ts';
import { SnapshotClient } from '../../src/client/index.ts';
import { inert } from '../../src/contract/text.ts';
import { corrupt, metadataOf, temporaryDirectory } from '../client/running-service.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { COMMAND, run } from './command.ts';

const OLD = '6b1d9a0f'.padEnd(32, '0');
const NEW = '6b1d9a1f'.padEnd(32, '0');
const LOST = 'f'.repeat(32);
let service: RunningApp;
let client: SnapshotClient;

beforeAll(async () => {
  service = await startApp();
  client = new SnapshotClient(service.url);
  const publish = (id: string, finished: string, namespace: string) =>
    client.publish(metadataOf(id, { finished_at_ns: finished, source_namespace: namespace }), {
      ids: Int32Array.of(1),
      flags: new Uint8Array(9),
    });
  await publish(OLD, '1761782401000000000', 'a:b');
  await publish(NEW, '1761868801000000000', 'c');
  await publish(LOST, '1761955201000000000', 'd');
  corrupt(join(service.root, 'snapshots', LOST, 'array-flags.bin'));
  return async () => {
    await client.close();
    await service.close();
  };
});

const ls = async (...args: string[]) => {
  const { out, err, code } = await run(['ls', '--url', service.url, '--json', ...args]);
  const { snapshots = [], next = null } = out === '' ? {} : JSON.parse(out);
  return {
    ids: snapshots.map((one: { snapshot_id: string }) => one.snapshot_id),
    snapshots,
    next,
    code,
    err,
  };
};

test('ls puts the last finished first, goes on where it stopped, and filters by time', async () => {
  const frame = ['--proof', 'frame'];
  const first = await ls(...frame, '--limit', '2');
  expect(first.ids).toEqual([LOST, NEW]);
  expect(await ls(...frame, '--limit', '2', '--after', first.next)).toMatchObject({ ids: [OLD], next: null });
  expect((await ls('--since', '2025-10-31', '--until', '2025-10-31T12:00Z', ...frame)).ids).toEqual([NEW]);
  expect((await ls('--order', 'id', ...frame)).ids).toEqual([OLD, NEW, LOST]);
  const told = await run(['ls', '--url', service.url, ...frame, '--limit', '1']);
  expect(told.err).toBe(`More: the same command with --after ${(await ls(...frame, '--limit', '1')).next}\n`);
});

test('ls fails for what is damaged, or lists it among the others', async () => {
  expect(await ls()).toMatchObject({ code: 4 });
  const { snapshots, code } = await ls('--damaged');
  expect(code).toBe(0);
  const damaged = snapshots.filter((one: object) => 'problem' in one);
  expect(damaged).toMatchObject([{ snapshot_id: LOST, problem: { code: 'storage_integrity' } }]);
});

test('an id may be its first digits, if no other begins so, or the latest', async () => {
  for (const [text, id] of [
    ['6b1d9a0f', OLD],
    ['6b1d9a1', NEW],
    ['f', LOST],
    [OLD, OLD],
    ['latest', LOST],
    ['latest:c', NEW],
    ['latest:a:b', OLD],
  ] as const)
    expect(await resolveId(client, text)).toBe(id);
  for (const text of ['not-an-id', 'latest:', '6B1D', '', '0'.repeat(33)]) {
    await expect(resolveId(client, text)).rejects.toMatchObject({ code: 'invalid_snapshot_id' });
  }
  await expect(resolveId(client, '6b1d')).rejects.toMatchObject({
    code: 'ambiguous_id',
    message: expect.stringMatching(new RegExp(`${OLD}.*${NEW}`, 'u')),
  });
  for (const text of ['6b1d9a0f1', '0', 'latest:none'])
    await expect(resolveId(client, text)).rejects.toMatchObject({ status: 3 });
  expect((await beginningWith(client, '', 2)).map(({ id }) => id)).toEqual([OLD, NEW]);
  expect((await run(['show', '6b1d9a0f', '--url', service.url])).out).toContain(OLD);
  expect((await run(['show', '6b1d9a', '--url', service.url])).code).toBe(1);
});

describe('a table', () => {
  const columns: readonly Column[] = [
    { title: 'ID', least: 6 },
    { title: 'TEXT', least: 4, leftOut: 1 },
    { title: 'WHEN' },
  ];
  const rows = [['0123456789', '数据'.repeat(20), '2025-10-30']];

  async function shown(width: number): Promise<readonly string[]> {
    const written: string[] = [];
    const { write } = process.stdout;
    process.stdout.write = ((text: string) => written.push(text)) as never;
    try {
      await printTable(columns, rows, { terminal: true, width });
    } finally {
      process.stdout.write = write;
    }
    return written.join('').trimEnd().split('\n');
  }

  test('is as wide as the terminal, cut where it may be and never within a date', async () => {
    expect(await shown(200)).toEqual([
      `ID          TEXT${' '.repeat(76)}  WHEN`,
      `0123456789  ${'数据'.repeat(20)}  2025-10-30`,
    ]);
    expect(await shown(40)).toEqual([
      'ID          TEXT              WHEN',
      '0123456789  数据数据数据数…   2025-10-30',
    ]);
    expect(await shown(20)).toEqual(
      ['ID      WHEN', '01234…  2025-10-30'].map((line) =>
        line.replace('01234…', '0123456…').replace('ID      WHEN', 'ID        WHEN'),
      ),
    );
  });
});

test('what steers a terminal is escaped, and the JSON means the same', () => {
  const text = 'a\u007f\u009b\u202e\u2066\u2028\u{e0001}\ud800z';
  const json = inert(JSON.stringify({ text }));
  expect(json).toMatch(/^[ -~]*$/u);
  expect(JSON.parse(json)).toEqual({ text });
  expect(inert('a\nb\tc', '\n')).toBe('a\nb\\u0009c');
});

test('completion knows ids, arrays, and the words of flags, and is silent where no service answers', async () => {
  const cwd = temporaryDirectory();
  fs.writeFileSync(
    join(cwd, 'pipewhy-snapshots'),
    `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`,
    { mode: 0o755 },
  );
  const script = spawnSync(process.execPath, [COMMAND, 'completion', 'bash'], { encoding: 'utf8' }).stdout;
  const completed = async (line: string) => {
    const words = line.split(' ');
    const ask = `COMP_LINE='${line}'; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pipewhy_snapshots; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { out, err } = await run(['-c', `${script}\n${ask}`], {
      program: 'bash',
      env: { SNAPSHOTS_URL: service.url, PATH: `${cwd}:${process.env['PATH'] ?? ''}` },
    });
    expect(err).toBe('');
    return out.split('\n').filter((word) => word !== '' && !word.startsWith('-'));
  };
  expect(await completed('pipewhy-snapshots show 6b')).toEqual([OLD, NEW]);
  expect(await completed(`pipewhy-snapshots get ${OLD} `)).toEqual(['flags', 'ids']);
  expect(await completed('pipewhy-snapshots ls --parent la')).toEqual(['latest']);
  expect(await completed('pipewhy-snapshots show --url http://127.0.0.1:9 6b')).toEqual([]);
  expect(await completed('pipewhy-snapshots serve --log-format ')).toEqual(['auto', 'json', 'pretty']);
  expect(await completed('pipewhy-snapshots serve --verify o')).toEqual(['once']);
});
