/** Every block of code in the README and in the pages for producers runs as it is printed, in order, against one service. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import { startServer } from '../support/service.ts';
import { idOf, metadataOf, temporaryRoot } from '../support/stores.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(path: string): readonly Block[] {
  const text = readFileSync(join(TOP, path), 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gmsu)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }));
}

/** A folder as the project's own is to a reader: the package installed, the examples there, and the service over `./data`. */
async function project() {
  const folder = temporaryRoot();
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(TOP, 'examples'), join(folder, 'examples'));
  symlinkSync(TOP, join(folder, 'node_modules/pipewhy-snapshots'));
  symlinkSync(join(TOP, 'dist/src/cli/entry.cjs'), join(folder, 'node_modules/.bin/pipewhy-snapshots'));
  const { url } = await startServer(join(folder, 'data'));
  // What is printed, but for the port and the folder for things that may be thrown away.
  const here = (text: string): string =>
    text.replaceAll('http://127.0.0.1:8750', url).replaceAll('/tmp/', `${folder}/`);
  return { folder, url, here };
}

function run(command: string, args: readonly string[], cwd: string, env: object = {}): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, SNAPSHOTS_TOKEN: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`${command} ended with ${status}:\n${output}${errors}`));
    });
  });
}

/** These start or test the whole project; that they work is the work of every other test. */
const WHOLE_PROJECT = ['npm ci && npm start\n', 'npm ci && npm test\n'];

test('every block of the README runs as it is printed', async () => {
  const { folder, url, here } = await project();
  const blocks = blocksOf('README.md');
  expect(blocks.map(({ language }) => language).filter((name) => name !== '')).toEqual(
    expect.arrayContaining(['sh', 'json', 'ts']),
  );

  const shell = blocks.filter(({ language, text }) => language === 'sh' && !WHOLE_PROJECT.includes(text));
  // One terminal: what a block sets or changes into is there for the next one.
  const curl = shell.filter(({ text }) => text.includes('curl')).map(({ text }) => here(text));
  expect(curl).toHaveLength(2);
  const output = await run('bash', ['-euo', 'pipefail', '-c', curl.join('')], folder);
  expect(output).toMatch(/^HTTP\/1\.1 201 Created/mu);
  expect(output).toContain('array-downloads.bin');
  for (const { text } of shell.filter((block) => !block.text.includes('curl'))) {
    await run('bash', ['-euo', 'pipefail', '-c', here(text)], folder, { SNAPSHOTS_URL: url });
  }

  const scripts = blocks.filter(({ language }) => language === 'ts');
  expect(scripts).toHaveLength(2);
  for (const [index, { text }] of scripts.entries()) {
    writeFileSync(join(folder, `block-${index}.mjs`), here(text));
    await run('node', [`block-${index}.mjs`], folder);
  }

  for (const { text } of blocks.filter(({ language }) => language === 'json')) {
    const example = JSON.parse(readFileSync(join(TOP, 'examples/npm-packages/metadata.json'), 'utf8'));
    const printed = JSON.parse(text);
    expect(printed.snapshot).toEqual(example.snapshot);
    expect(example.arrays).toMatchObject(printed.arrays);
  }
});

test.each(['docs/CONCEPTS.md', 'clients/python/README.md'])(
  'every block of %s runs as it is printed',
  async (path) => {
    const blocks = blocksOf(path);
    for (const { text } of blocks.filter(({ language }) => language === 'json')) {
      const coverage: object = JSON.parse(text);
      expect(parseSnapshotMetadata(metadataOf(idOf(1), { coverage })).coverage).toEqual(coverage);
    }
    const programs = blocks.filter(({ language }) => language === 'python');
    expect(programs).toHaveLength(1);
    const noPython =
      spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0;
    if (noPython) {
      console.warn(`The program in ${path} was not tried: python3 from 3.9 on is not there.`);
      return;
    }
    const { folder, here } = await project();
    const output = await run('python3', ['-B', '-c', here(programs[0]!.text)], folder, {
      PYTHONPATH: join(TOP, 'clients/python'),
    });
    if (path === 'docs/CONCEPTS.md') expect(output).toBe('changed orders: [2]\n');
    else expect(output).toMatch(/^COMPLETE 1\n\['00112233445566778899aabbccddeeff'\] \[\]\n$/u);
  },
);
