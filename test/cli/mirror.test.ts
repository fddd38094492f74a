/** `mirror`: byte-identical copies between directories and services, whatever is in the way. */
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

import { corrupt, temporaryDirectory } from '../client/running-service.ts';
import { appForTest } from '../support/service.ts';
import { declarations, idOf, packagePath, publishExample, removeRoot, storeAt } from '../support/stores.ts';
import {
  ALL,
  CHILD,
  copyOf,
  EMPTY,
  FORK,
  GRANDCHILD,
  idsOf,
  LARGE,
  LAST,
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

test('directory to service to directory: the same files with the same bytes, and nothing twice', async () => {
  const { url } = await appForTest();
  const last = join(temporaryDirectory(), 'made', 'root');
  const there = await mirrored(origin, url);
  expect(there).toMatchObject({ code: 0, err: '', report: { complete: true, equal: 0, problems: [] } });
  expect([...there.ids].sort()).toEqual(ALL);
  const back = await mirror(url, last);
  expect(back).toMatchObject({ code: 0, err: '' });
  expect(back.out).toMatch(/^7 snapshots copied \(7\.0 MiB\), 0 there already\.$/mu);
  expect(packagesOf(last)).toEqual(packagesOf(origin));
  for (const [from, to] of [
    [origin, url],
    [url, last],
    [last, url],
    [url, url],
    [last, origin],
  ] as const) {
    const again = await mirrored(from, to);
    expect(again).toMatchObject({ code: 0, report: { complete: true, copied: [], equal: 7 } });
  }
});

test('parents come before their children, whatever their ids', async () => {
  const to = newRoot();
  const { code, ids, report } = await mirrored(origin, to, ['--jobs', '1']);
  expect({ code, problems: report.problems }).toEqual({ code: 0, problems: [] });
  for (const [parent, child] of [
    [ROOT, CHILD],
    [CHILD, GRANDCHILD],
    [CHILD, FORK],
    [GRANDCHILD, LAST],
  ] as const) {
    expect(ids.indexOf(parent)).toBeLessThan(ids.indexOf(child));
  }
});

test('between two directories it needs the declarations, and says so by name where one is missing', async () => {
  const to = newRoot();
  const others = join(temporaryDirectory(), 'contexts.json');
  const context = { ...declarations.contexts[0], context_id: 'another' };
  fs.writeFileSync(others, JSON.stringify({ ...declarations, contexts: [context] }));
  const { code, report } = await mirrored(origin, to, ['--contexts', others]);
  expect(code).toBe(1);
  expect(idsOf(to)).toEqual([]);
  const codes = Object.fromEntries(report.problems.map((problem) => [problem.snapshot_id, problem]));
  expect(codes[ROOT]).toMatchObject({ side: 'to', code: 'fingerprint_context_mismatch' });
  expect(codes[CHILD]).toMatchObject({ side: 'to', code: 'parent_not_complete' });
  expect(Object.keys(codes).sort()).toEqual(ALL);
  expect(report.not_tried).toBe(0);
});

test('a directory beside a service takes the declarations of the service', async () => {
  const { url, root } = await appForTest();
  await publishExample(storeAt(root), idOf(1));
  const to = newRoot();
  const { code, err } = await mirror(url, to, [], { env: { SNAPSHOTS_CONTEXTS: '' } });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(packagesOf(to)).toEqual(packagesOf(root));
});

test('filters choose, and the parents that are needed come too', async () => {
  const cases: readonly [readonly string[], readonly string[]][] = [
    [['--id', EMPTY, '--id', EMPTY], [EMPTY]],
    [
      ['--id', '00000000000000000000000000000004'],
      [FORK, CHILD, ROOT],
    ],
    [
      ['--id', 'latest'],
      [LAST, GRANDCHILD, CHILD, ROOT],
    ],
    [
      ['--namespace', 'other'],
      [CHILD, ROOT],
    ],
    [
      ['--since', '2029-01-01'],
      [LAST, GRANDCHILD, CHILD, ROOT],
    ],
    [['--since', '2029-01-01', '--namespace', 'other'], []],
  ];
  const { url } = await appForTest({ root: copyOf(origin) });
  for (const [at, [args, expected]] of cases.entries()) {
    const to = newRoot();
    const { code, ids } = await mirrored(at % 2 === 0 ? origin : url, to, args);
    expect({ code, ids: [...ids].sort() }).toEqual({ code: 0, ids: [...expected].sort() });
    expect(fs.existsSync(to) ? idsOf(to) : []).toEqual([...expected].sort());
  }
});

test('a dry run says what would come, in order, and changes nothing', async () => {
  const to = newRoot();
  const { code, report, ids } = await mirrored(origin, to, ['--dry-run']);
  expect({ code, dry: report.dry_run, ids: [...ids].sort() }).toEqual({ code: 0, dry: true, ids: ALL });
  expect(ids.indexOf(ROOT)).toBeLessThan(ids.indexOf(LAST));
  expect(fs.existsSync(to)).toBe(false);
  const { out } = await mirror(origin, to, ['--dry-run', '--id', EMPTY]);
  expect(out).toBe(`would copy ${EMPTY}\n1 snapshot would be copied (0 B), 0 there already.\n`);
  expect(fs.existsSync(to)).toBe(false);
});

test('another snapshot of the same id is named and stays, its children do not come, all others do', async () => {
  const to = newRoot();
  const store = storeAt(to);
  await publishExample(store, CHILD, { other: Int8Array.of(1) });
  await store.close();
  const { url } = await appForTest({ root: to });
  const before = packagesOf(to);
  for (const side of [to, url]) {
    const { code, report } = await mirrored(origin, side);
    expect(code).toBe(1);
    expect(report.problems.map(({ snapshot_id: id, code: why }) => [id, why]).sort()).toEqual(
      [
        [CHILD, 'snapshot_exists'],
        [GRANDCHILD, 'parent_not_complete'],
        [LAST, 'parent_not_complete'],
        [FORK, 'parent_not_complete'],
      ].sort(),
    );
    const { out } = await mirror(origin, side);
    expect(out).toMatch(
      new RegExp(
        `^${CHILD}: snapshot_exists at TO: TO has under this id another snapshot: its manifest has`,
        'mu',
      ),
    );
    expect(idsOf(to)).toEqual([CHILD, ROOT, LARGE, EMPTY].sort());
  }
  expect(packagesOf(to)).toMatchObject(before);
});

test.each([
  ['a payload', ['array-ids.bin'], 'storage_integrity'],
  ['a manifest', ['manifest.json'], 'storage_integrity'],
  ['a marker', ['complete.sha256'], 'storage_integrity'],
])('%s that is damaged at FROM is named, and the others come', async (_, files, code) => {
  const root = copyOf(origin);
  for (const file of files) corrupt(packagePath(root, LARGE, file));
  fs.mkdirSync(join(root, 'snapshots', 'foreign'));
  const { url } = await appForTest({ root });
  for (const from of [root, url]) {
    const to = newRoot();
    const { code: status, report } = await mirrored(from, to);
    expect(status).toBe(1);
    expect(report.problems).toMatchObject([
      ...(files[0] === 'array-ids.bin' ? [{ snapshot_id: 'foreign' }] : []),
      { snapshot_id: LARGE, side: 'from', code },
      ...(files[0] === 'array-ids.bin' ? [] : [{ snapshot_id: 'foreign' }]),
    ]);
    expect(idsOf(to)).toEqual(ALL.filter((id) => id !== LARGE));
  }
});

test('a package that is damaged at TO is named and left as it is', async () => {
  const to = newRoot();
  await mirrored(origin, to);
  corrupt(packagePath(to, ROOT, 'manifest.json'));
  const before = packagesOf(to);
  const { code, report } = await mirrored(origin, to);
  expect(code).toBe(1);
  expect(report).toMatchObject({
    equal: 6,
    problems: [{ snapshot_id: ROOT, side: 'to', code: 'storage_integrity' }],
  });
  expect(packagesOf(to)).toEqual(before);
});

test('a parent that lies on neither side is named, with all who come from it', async () => {
  const root = copyOf(origin);
  fs.rmSync(packagePath(root, CHILD), { recursive: true });
  const { url } = await appForTest({ root });
  for (const from of [root, url]) {
    for (const args of [[], ['--id', LAST, '--id', FORK]]) {
      const to = newRoot();
      const dry = await mirrored(from, to, [...args, '--dry-run']);
      const { code, report } = await mirrored(from, to, args);
      expect(report.problems).toEqual(dry.report.problems);
      expect([dry.code, code]).toEqual([1, 1]);
      expect(report.problems.map(({ snapshot_id: id }) => id).sort()).toEqual(
        [GRANDCHILD, LAST, FORK].sort(),
      );
      for (const { code: why } of report.problems) expect(why).toBe('parent_not_complete');
      expect(report.problems.find(({ snapshot_id: id }) => id === FORK)?.detail).toContain(
        `Its parent ${CHILD} lies on neither side`,
      );
    }
  }
});

test('an id that FROM does not have is named, and the others come', async () => {
  const to = newRoot();
  const { code, report, ids } = await mirrored(origin, to, ['--id', idOf(1), '--id', EMPTY]);
  expect({ code, ids }).toEqual({ code: 1, ids: [EMPTY] });
  expect(report.problems).toMatchObject([{ snapshot_id: idOf(1), side: 'from', code: 'snapshot_not_found' }]);
});

test('several at once over one TO end well, and the snapshots are there once', async () => {
  const { url, root } = await appForTest();
  const directory = newRoot();
  for (const to of [url, directory]) {
    const runs = await Promise.all([1, 2, 3].map(() => mirrored(origin, to)));
    for (const { code, report } of runs)
      expect({ code, problems: report.problems }).toEqual({ code: 0, problems: [] });
    const copied = runs.flatMap(({ ids }) => ids).sort();
    expect(copied).toEqual(ALL);
  }
  expect(packagesOf(root)).toEqual(packagesOf(origin));
  expect(packagesOf(directory)).toEqual(packagesOf(origin));
});
