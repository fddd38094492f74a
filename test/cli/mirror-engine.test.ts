/** `mirror` over every kind of store in turn, an S3 engine among them: the package list arrives as it left. */
import fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { EngineRoot, NO_ENGINE } from '../support/engine.ts';
import { appForTest } from '../support/service.ts';
import { idOf, removeRoot } from '../support/stores.ts';
import { run } from './command.ts';
import { ALL, idsOf, makeOrigin, mirrored, newRoot, packagesOf } from './mirror-support.ts';

/** The first of them starts the engine, beside all other tests. */
const WITH_START = 180_000;

const PACKAGES = fileURLToPath(new URL('../../examples/npm-packages', import.meta.url));

if (NO_ENGINE !== null) console.warn(`No test of mirror over an S3 engine: ${NO_ENGINE}`);

/** A store with the package list in it, published from its files. */
async function packageList(): Promise<{ readonly root: string; readonly id: string }> {
  const { url, root } = await appForTest({ root: newRoot() });
  const files = ['--metadata', join(PACKAGES, 'metadata.json'), '--dir', PACKAGES];
  const { code, err } = await run(['publish', '--url', url, ...files]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [id = ''] = idsOf(root);
  return { root, id };
}

function expectPackageList(root: string, id: string): void {
  const manifest = fs.readFileSync(join(root, 'snapshots', id, 'manifest.json'));
  expect(manifest.equals(fs.readFileSync(join(PACKAGES, 'expected-manifest.json')))).toBe(true);
}

test('the package list goes from a directory to a service to a directory', async () => {
  const { root, id } = await packageList();
  const { url } = await appForTest();
  const last = newRoot();
  expect(await mirrored(root, url)).toMatchObject({ code: 0, ids: [id] });
  expect(await mirrored(url, last)).toMatchObject({ code: 0, ids: [id] });
  expect(packagesOf(last)).toEqual(packagesOf(root));
  expectPackageList(last, id);
});

async function engine(): Promise<EngineRoot> {
  const root = await EngineRoot.make();
  onTestFinished(() => {
    root.close();
  });
  return root;
}

/** Region and keys as whoever calls the command has them; the endpoint is that of the engine. */
const over = ({ environment }: EngineRoot) => ({ env: { AWS_REGION: 'us-east-1', ...environment } });

test.skipIf(NO_ENGINE !== null)(
  'the package list goes from a directory to a bucket to a service to a directory',
  async () => {
    const { root, id } = await packageList();
    const bucket = await engine();
    const { url } = await appForTest();
    const last = newRoot();
    expect(await mirrored(root, bucket.root, [], over(bucket))).toMatchObject({ code: 0, ids: [id] });
    expect(await mirrored(bucket.root, url, [], over(bucket))).toMatchObject({ code: 0, ids: [id] });
    expect(await mirrored(url, last)).toMatchObject({ code: 0, ids: [id] });
    expect(packagesOf(last)).toEqual(packagesOf(root));
    expectPackageList(last, id);
    for (const to of [bucket.root, last]) {
      expect(await mirrored(root, to, [], over(bucket))).toMatchObject({
        code: 0,
        report: { equal: 1, copied: [] },
      });
    }
  },
  WITH_START,
);

test.skipIf(NO_ENGINE !== null)(
  'several mirrors at once over one bucket: parents first, and once each',
  async () => {
    const origin = await makeOrigin();
    onTestFinished(() => {
      removeRoot(origin);
    });
    const bucket = await engine();
    const dry = await mirrored(origin, bucket.root, ['--dry-run'], over(bucket));
    expect(dry).toMatchObject({ code: 0, report: { complete: true } });
    expect(await bucket.names()).toEqual([]);
    const runs = await Promise.all([1, 2].map(() => mirrored(origin, bucket.root, [], over(bucket))));
    for (const { code, report } of runs)
      expect({ code, problems: report.problems }).toEqual({ code: 0, problems: [] });
    expect(runs.flatMap(({ ids }) => ids).sort()).toEqual(ALL);
    const back = newRoot();
    expect(await mirrored(bucket.root, back, [], over(bucket))).toMatchObject({ code: 0 });
    expect(packagesOf(back)).toEqual(packagesOf(origin));
    expect(
      (await mirrored(bucket.root, back, ['--id', idOf(1)], over(bucket))).report.problems,
    ).toMatchObject([{ side: 'from', code: 'snapshot_not_found' }]);
  },
  WITH_START,
);
