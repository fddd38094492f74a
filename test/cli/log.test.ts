/** `log`: what is drawn beside a history, what is left out and said, and the same for programs. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { drawn, historyAround, historyOfAll, type History, type Known } from '../../src/cli/lineage.ts';
import { SnapshotClient } from '../../src/client/index.ts';
import { metadataOf } from '../client/running-service.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf } from '../support/stores.ts';
import { COMMAND, run } from './command.ts';

const hasTerminal = spawnSync('script', ['--version']).error === undefined;

/** `c<b` is c with the parent b; the later in the list the later it was finished. */
function indexOf(...nodes: readonly string[]): ReadonlyMap<string, Known> {
  return new Map(
    nodes.map((text, at) => {
      const [id = '', parent = null] = text.split('<');
      return [id, { id, parent, finished: BigInt(at + 1) }];
    }),
  );
}

const linesOf = (history: History<Known>): string[] =>
  drawn(history, () => '*').map(({ graph, node, missing }) =>
    `${graph} ${node?.id ?? missing ?? ''}`.trimEnd(),
  );

describe('the drawing', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['nothing', [], []],
    ['a chain', ['a', 'b<a', 'c<b'], ['* c', '* b', '* a']],
    ['two that have nothing in common', ['a', 'b'], ['* b', '* a']],
    ['a fork', ['a', 'b<a', 'c<a'], ['* c', '│ * b', '├─╯', '* a']],
    ['three children', ['a', 'b<a', 'c<a', 'd<a'], ['* d', '│ * c', '│ │ * b', '├─┴─╯', '* a']],
    [
      'a fork across another branch',
      ['a', 'x', 'b<a', 'y<x', 'c<a'],
      ['* c', '│ * y', '│ │ * b', '│ * │ x', '├───╯', '* a'],
    ],
    ['a parent that is not there', ['b<a', 'c<b'], ['* c', '* b', 'o a']],
    ['one missing parent of two', ['b<a', 'c<a'], ['* c', '│ * b', '├─╯', 'o a']],
    ['a parent that was finished later', ['b<a', 'a'], ['* b', '* a']],
  ])('%s', (_, nodes, expected) => {
    const lines = linesOf(historyOfAll(indexOf(...nodes), () => true, 99));
    expect(lines).toEqual(expected);
  });

  test('what the limit leaves out is led to, and counted', () => {
    const history = historyOfAll(indexOf('a', 'b<a', 'c<b'), () => true, 2);
    expect(linesOf(history)).toEqual(['* c', '* b', '⋮']);
    expect(history).toMatchObject({ omitted: 1, missing: [] });
  });
});

describe('a history around one', () => {
  const index = indexOf('a<z', 'b<a', 'c<b', 'd<b', 'e<c', 'f<c', 'g<e', 'other');

  test('has its ancestors, its children, and the forks of its ancestors, and says which is which', () => {
    const history = historyAround(index, 'c', 99);
    expect(history.shown.map(({ id }) => id)).toEqual(['f', 'e', 'd', 'c', 'b', 'a']);
    expect(Object.fromEntries(history.relations)).toEqual({
      ...{ c: 'self', b: 'ancestor', a: 'ancestor', e: 'child', f: 'child', d: 'fork' },
    });
    expect(history).toMatchObject({ missing: ['z'], omitted: 0 });
    expect(linesOf(history)).toEqual([
      '* f',
      '│ * e',
      '│ │ * d',
      '├─╯ │',
      '*   │ c',
      '├───╯',
      '* b',
      '* a',
      'o z',
    ]);
  });

  test('is bounded: it always has the one asked for, and counts what it leaves out', () => {
    for (const limit of [1, 2, 3, 4, 5]) {
      const history = historyAround(index, 'c', limit);
      expect(history.shown).toHaveLength(limit);
      expect(history.shown.map(({ id }) => id)).toContain('c');
      expect(history.omitted).toBe(6 - limit);
    }
    const chain = indexOf('0', ...Array.from({ length: 5000 }, (_, at) => `${at + 1}<${at}`));
    const history = historyAround(chain, '5000', 50);
    expect(history.shown.map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 50 }, (_, at) => 5000 - at),
    );
    expect(history.omitted).toBe(5001 - 50);
  });

  test('ends where ancestors go round in a circle', () => {
    const circle = indexOf('a<c', 'b<a', 'c<b');
    expect(historyAround(circle, 'a', 99).shown).toHaveLength(3);
  });
});

describe('the command', () => {
  let service: RunningApp;
  const [A, B, C, D, LOST] = [idOf(0xa), idOf(0xb), idOf(0xc), idOf(0xd), idOf(0xe)] as const;

  beforeAll(async () => {
    service = await startApp();
    const client = new SnapshotClient(service.url);
    const publish = (id: string, parent: string | null, at: number, namespace = 'one') =>
      client.publish(
        metadataOf(id, {
          parent_id: parent,
          finished_at_ns: `176178240100000000${at}`,
          source_namespace: namespace,
        }),
        {},
      );
    await publish(A, null, 1);
    await publish(B, A, 2);
    await publish(C, B, 3, 'two\u001b[31m');
    await publish(D, B, 4);
    await publish(LOST, D, 5);
    await client.close();
    // Opening a child never needs its parent.
    fs.rmSync(join(service.root, 'snapshots', A), { recursive: true });
    fs.appendFileSync(join(service.root, 'snapshots', LOST, 'manifest.json'), ' ');
    return () => service.close();
  });

  const log = (...args: string[]) => run(['log', '--url', service.url, ...args]);

  test('names the missing and the damaged, for programs', async () => {
    const { code, out, err } = await log(C, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const document = JSON.parse(out);
    expect(document).toMatchObject({ snapshot: C, missing: [A], omitted: 0 });
    expect(document.snapshots).toMatchObject([
      { snapshot_id: D, parent_id: B, relation: 'fork', coverage_status: 'COMPLETE' },
      { snapshot_id: C, parent_id: B, relation: 'self', source_namespace: 'two\u001b[31m' },
      { snapshot_id: B, parent_id: A, relation: 'ancestor' },
    ]);
    const all = JSON.parse((await log('--json')).out);
    expect(all.snapshot).toBeNull();
    expect(all.snapshots.map((one: { snapshot_id: string }) => one.snapshot_id)).toEqual([D, C, B, LOST]);
    expect(all.snapshots[3]).toMatchObject({ problem: { code: 'storage_integrity' } });
  });

  test('one line per snapshot with tabs, and what was left out is said', async () => {
    const { code, out, err } = await log('--namespace', 'one', '--limit', '1');
    expect(code).toBe(0);
    expect(out).toBe(`-\t${D}\t${B}\t2025-10-30T00:00:01.000000004Z\tone\tv1\tCOMPLETE\n`);
    expect(err).toBe('1 snapshot is left out; --limit shows more.\n');
    expect((await log('latest:one')).out.split('\n').map((line) => line.split('\t')[0])).toEqual([
      ...['self', 'fork', 'ancestor', 'missing', ''],
    ]);
  });

  test.skipIf(!hasTerminal)('drawn on a terminal, with nothing that steers it', async () => {
    const line = `stty cols 140; ${process.execPath} ${COMMAND} log ${C} --url ${service.url}`;
    const { out } = await run(['-qec', line, '/dev/null'], { program: 'script' });
    const lines = out.replaceAll('\r', '').split('\n');
    const drawing = lines.slice(1, 6).map((text) => text.slice(0, 3 + 2 + 32));
    expect(drawing).toEqual([`*    ${D}`, `│ @  ${C}`, '├─╯', `*    ${B}`, `o    ${A}`]);
    expect(out).not.toContain('\u001b[31m');
  });

  test.each([
    ['an id that is not there', [A], 3],
    ['no id', ['x y'], 2],
    ['an id and a namespace', [C, '--namespace', 'one'], 2],
    ['no number', ['--limit', '0'], 2],
  ])('%s is refused', async (_, args, expected) => {
    const { code, out, err } = await log(...args);
    expect({ code, out }).toEqual({ code: expected, out: '' });
    expect(err).toMatch(/\S/u);
  });
});
