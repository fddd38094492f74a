/** A newcomer's way: the built command, curl, real columns, and the same bytes as another implementation wrote. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { ask, jsonOf, problemOf } from '../support/http.ts';
import { startServer } from '../support/service.ts';
import { packagePath, temporaryRoot } from '../support/stores.ts';
import { post } from '../support/uploads.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
const COLUMNS = join(EXAMPLES, 'npm-packages');
const columns = fs.readdirSync(COLUMNS).filter((name) => name.startsWith('array-'));
const expectedManifest = fs.readFileSync(join(COLUMNS, 'expected-manifest.json'));
const { snapshot_id: id } = JSON.parse(expectedManifest.toString()).snapshot as { snapshot_id: string };

interface ScriptEnd {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function publishScript(args: readonly string[], env: Record<string, string> = {}): Promise<ScriptEnd> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } };
    execFile(join(EXAMPLES, 'publish.sh'), args, options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

test('publish.sh yields exactly the expected package, every array comes back, and a second run compares', async () => {
  const root = temporaryRoot();
  const { url } = await startServer(root);
  const first = await publishScript([url]);
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(first.stdout).toContain('Published (201)');
  expect(fs.readFileSync(packagePath(root, id, 'manifest.json')).equals(expectedManifest)).toBe(true);
  expect(columns).toHaveLength(7);
  for (const file of columns) {
    const sent = fs.readFileSync(join(COLUMNS, file));
    expect(fs.readFileSync(packagePath(root, id, file)).equals(sent)).toBe(true);
    expect((await ask(url, `/snapshots/${id}/${file}`)).body.equals(sent)).toBe(true);
    expect(first.stdout).toContain(`${file} is what was sent`);
  }
  const { manifest_sha256: digest } = jsonOf(await ask(url, '/snapshots')).snapshots[0];

  const second = await publishScript([], { SNAPSHOTS_URL: `${url}/` });
  expect(second).toMatchObject({ status: 0, stderr: '' });
  expect(second.stdout).toContain(
    `It exists already (409), and it is the same one: manifest_sha256 ${digest}`,
  );
});

test('the stored manifest and files, published into an empty store, yield the identical package', async () => {
  const [one, other] = [temporaryRoot(), temporaryRoot()];
  const first = await startServer(one);
  expect(await publishScript([first.url])).toMatchObject({ status: 0 });
  const second = await startServer(other);
  const stored = (file: string): Buffer => fs.readFileSync(packagePath(one, id, file));
  const parts = columns.toReversed().map((name) => ({ name, payload: stored(name) }));
  expect((await post(second.url, stored('manifest.json'), parts)).status).toBe(201);
  const files = fs.readdirSync(packagePath(one, id)).sort();
  expect(fs.readdirSync(packagePath(other, id)).sort()).toEqual(files);
  for (const file of files)
    expect(fs.readFileSync(packagePath(other, id, file)).equals(stored(file))).toBe(true);
  const again = problemOf(await post(second.url, stored('manifest.json'), parts), 'snapshot_exists');
  expect(`${again.manifest_sha256}\n`).toBe(stored('complete.sha256').toString());
});

test('publish.sh says what to do where no service answers', async () => {
  const { status, stderr } = await publishScript(['http://127.0.0.1:9']);
  expect(status).toBe(1);
  expect(stderr).toMatch(/nothing answers at http:\/\/127\.0\.0\.1:9\. Start the service/u);
});

test('publish.sh fails where the id holds another snapshot, and shows the answer of a refusal', async () => {
  const { url } = await startServer(temporaryRoot());
  const draft = JSON.parse(fs.readFileSync(join(COLUMNS, 'metadata.json'), 'utf8'));
  draft.arrays = {};
  expect((await post(url, Buffer.from(JSON.stringify(draft)), [])).status).toBe(201);
  const other = await publishScript([url]);
  expect(other.status).toBe(1);
  expect(other.stderr).toContain('exists and is another one');

  const guarded = await startServer(temporaryRoot(), [], { env: { SNAPSHOTS_TOKEN: 'open-sesame' } });
  const refused = await publishScript([guarded.url]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('"code":"unauthorized"');
  expect(await publishScript([guarded.url], { SNAPSHOTS_TOKEN: 'open-sesame' })).toMatchObject({ status: 0 });
});
