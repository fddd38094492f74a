/** Every example whose tools are there, run as its own first lines say, against the command that users start. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { ask, jsonOf } from '../support/http.ts';
import { startServer } from '../support/service.ts';
import { idOf, packagePath, publishExample, storeAt, temporaryRoot } from '../support/stores.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const COLUMNS = new URL('../../examples/npm-packages/', import.meta.url);
const EXPECTED = readFileSync(new URL('expected-manifest.json', COLUMNS), 'utf8');
const ID: string = JSON.parse(EXPECTED).snapshot.snapshot_id;
const PROGRAM_SECONDS = 100;

interface Example {
  readonly name: string;
  /** Exits with 0 where everything is there that the example needs. */
  readonly probe: readonly string[];
  readonly command: readonly string[];
  /** How another snapshot_id is given; null where it cannot be. */
  readonly id: ((id: string) => readonly string[]) | null;
}

const doubleDash = (id: string): readonly string[] => ['--id', id];

const EXAMPLES: readonly Example[] = [
  {
    name: 'curl',
    probe: ['sh', '-c', 'command -v curl && command -v sha256sum && command -v cmp'],
    command: ['sh', 'examples/publish.sh'],
    id: null,
  },
  {
    name: 'python-stdlib',
    probe: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 8))'],
    command: ['python3', 'examples/python-stdlib/publish.py'],
    id: doubleDash,
  },
  {
    name: 'python-numpy',
    probe: ['python3', '-c', 'import numpy, requests'],
    command: ['python3', 'examples/python-numpy/publish.py'],
    id: doubleDash,
  },
  {
    name: 'node-client',
    probe: ['node', '--version'],
    command: ['node', 'examples/node-client/publish.mjs'],
    id: doubleDash,
  },
  {
    name: 'node-fetch',
    probe: ['node', '--version'],
    command: ['node', 'examples/node-fetch/publish.mjs'],
    id: doubleDash,
  },
  {
    name: 'go',
    probe: ['go', 'version'],
    command: ['go', 'run', 'examples/go/main.go'],
    id: (id) => ['-id', id],
  },
  {
    name: 'java',
    probe: ['javac', '--release', '17', '--version'],
    // The flags only spare time: nothing here runs long enough to be optimized.
    command: ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', 'examples/java/Publish.java'],
    id: doubleDash,
  },
  {
    name: 'ruby',
    probe: ['ruby', '-rnet/http', '-rjson', '-e', ''],
    command: ['ruby', 'examples/ruby/publish.rb'],
    id: doubleDash,
  },
  {
    name: 'r',
    probe: ['Rscript', '-e', 'library(curl); library(jsonlite); library(openssl)'],
    command: ['Rscript', 'examples/r/publish.R'],
    id: (id) => [`--id=${id}`],
  },
];

interface End {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run([program = '', ...args]: readonly string[], url: string): Promise<End> {
  const child = spawn(program, args, {
    cwd: TOP,
    env: { ...process.env, SNAPSHOTS_URL: url, SNAPSHOTS_TOKEN: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_SECONDS * 1000,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status) => resolve({ status, ...output }));
  });
}

function isThere([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

async function expectStored(url: string, root: string, id: string): Promise<void> {
  const manifest = await ask(url, `/snapshots/${id}`);
  expect(manifest.status).toBe(200);
  expect(manifest.body.toString('utf8')).toBe(EXPECTED.replaceAll(ID, id));
  for (const { file } of Object.values<{ file: string }>(jsonOf(manifest).arrays)) {
    const stored = readFileSync(packagePath(root, id, file));
    expect(stored.equals(readFileSync(new URL(file, COLUMNS))), file).toBe(true);
  }
}

for (const { name, probe, command, id: idOption } of EXAMPLES) {
  test(`the ${name} example publishes, reads back, and recognizes its own snapshot`, async (context) => {
    if (!isThere(probe)) {
      const note = `The ${name} example was not tried: this failed: ${probe.join(' ')}`;
      // Most reporters count what was skipped and say no more.
      console.warn(note);
      context.skip(note);
    }
    const root = temporaryRoot();
    const { url } = await startServer(root);

    const first = await run(command, url);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^published/imu);
    await expectStored(url, root, ID);

    const second = await run(command, url);
    expect(second).toMatchObject({ status: 0, stderr: '' });
    expect(second.stdout).toMatch(/exists already/iu);
    expect(second.stdout).toContain(sha256Hex(Buffer.from(EXPECTED)));
    expect(second.stdout).not.toMatch(/^published/imu);

    if (idOption === null) return;
    const id = idOf(7);
    // The address as an argument this time, as it might be pasted.
    const third = await run([...command, ...idOption(id), `${url}/`], 'http://127.0.0.1:9');
    expect(third).toMatchObject({ status: 0, stderr: '' });
    expect(third.stdout).toMatch(new RegExp(`^published: ${id}, 7 arrays read back and proven`, 'u'));
    await expectStored(url, root, id);

    // Under a foreign snapshot's id nothing is believed.
    const taken = idOf(8);
    await publishExample(storeAt(root), taken);
    const fourth = await run([...command, ...idOption(taken), url], url);
    expect(fourth.status).not.toBe(0);
    expect(fourth.stdout).toBe('');
    expect(fourth.stderr).toMatch(/not published/u);
    expect(fourth.stderr).toMatch(/snapshot_exists|409/u);
  }, 600_000);
}
