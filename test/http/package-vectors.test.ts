/** Every way to read a package, judged by the packages of the reference implementation. */
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { ask, expectProblemHeaders, jsonOf, pathsOf, problemOf } from '../support/http.ts';
import { MEDIA, servedForTest, type Served } from '../support/media.ts';

interface PackageCase {
  readonly case: string;
  readonly snapshot_id: string;
  readonly valid: boolean;
  readonly problem: string | null;
}

const VECTORS = new URL('../vectors/packages/', import.meta.url);
const cases = JSON.parse(fs.readFileSync(new URL('expected.json', VECTORS), 'utf8')) as PackageCase[];
const valid = cases.filter((one) => one.valid);
const invalid = cases.filter((one) => !one.valid);

describe.each(MEDIA)('on $name,', (medium) => {
  async function serving(packages: readonly PackageCase[]): Promise<Served> {
    const served = await servedForTest(medium);
    for (const one of packages) {
      const source = new URL(`${one.case}/${one.snapshot_id}/`, VECTORS);
      const files = fs
        .readdirSync(source)
        .map((file) => [file, fs.readFileSync(new URL(file, source))] as const);
      await served.layOut(one.snapshot_id, new Map(files));
    }
    return served;
  }

  test.skipIf(medium.missing).each(valid)(
    'a package written by another implementation is served byte for byte: $case',
    async (one) => {
      const { url, ...served } = await serving([one]);
      const id = one.snapshot_id;
      const stored = (file: string): Promise<Buffer> => served.read(id, file);
      for (const [path, file, type] of [
        ['', 'manifest.json', 'application/json'],
        ['/manifest.json', 'manifest.json', 'application/json'],
        ['/complete.sha256', 'complete.sha256', 'text/plain; charset=us-ascii'],
        ...(await served.files(id))
          .filter((name) => name.startsWith('array-'))
          .map((name) => [`/${name}`, name, 'application/octet-stream']),
      ] as const) {
        const got = await ask(url, `/snapshots/${id}${path}`);
        expect(got.status).toBe(200);
        expect(got.headers['content-type']).toBe(type);
        expect(got.body.equals(await stored(file))).toBe(true);
        const head = await ask(url, `/snapshots/${id}${path}`, { method: 'HEAD' });
        expect(head.status).toBe(200);
        expect(head.headers['content-length']).toBe(String(got.body.length));
      }
      const { snapshots } = jsonOf(await ask(url, '/snapshots'));
      expect(snapshots).toEqual([
        expect.objectContaining({
          snapshot_id: id,
          manifest_sha256: sha256Hex(await stored('manifest.json')),
        }),
      ]);
    },
  );

  test.skipIf(medium.missing).each(invalid)(
    'an invalid package is refused on every route, and the listing names it: $case',
    async (one) => {
      const { url } = await serving([...valid, one]);
      const id = one.snapshot_id;
      const code = one.problem === 'unsupported' ? 'unsupported_package' : 'storage_integrity';
      for (const path of ['', '/manifest.json', '/complete.sha256', '/array-ids.bin']) {
        const problem = problemOf(await ask(url, `/snapshots/${id}${path}`), code);
        if (one.problem !== 'unsupported') expect(problem.problem).toBe(one.problem);
        expect(problem.snapshot_id).toBe(id);
        const head = await ask(url, `/snapshots/${id}${path}`, { method: 'HEAD' });
        expect(head.status).toBe(500);
        expectProblemHeaders(head);
      }
      const listing = problemOf(await ask(url, '/snapshots'), 'storage_integrity');
      expect(pathsOf(listing)).toEqual([id]);
    },
  );

  test.skipIf(medium.missing)('a listing names every invalid package at once, and no valid one', async () => {
    const { url } = await serving(cases);
    const listing = problemOf(await ask(url, '/snapshots'), 'storage_integrity');
    expect(pathsOf(listing)).toEqual(invalid.map((one) => one.snapshot_id).sort());
  });
});
