/**
 * Packs the project as it would be published, installs it into an empty folder as a stranger would, and uses it there:
 * engines, warnings, links of the documents, types under every mode of modules, require(), the command, the client.
 * `npm run test:package`; takes a minute and the npm registry.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
/** The oldest that reads the declarations, the oldest that lets CommonJS require them, and the project's own. */
const OLDEST = '5.7.3';
const OLDEST_REQUIRE = '5.8.3';
const NEWEST = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')).devDependencies.typescript;

/** TypeScript that Node's own type stripping could not run, so no file of the project. */
const FROM_COMMONJS = `import library = require('pipewhy-snapshots');
import client = require('pipewhy-snapshots/client');
console.log(typeof library.LocalSnapshotStore, typeof client.SnapshotClient);
`;

const folder = mkdtempSync(join(tmpdir(), 'snapshots-package-'));
const app = join(folder, 'app');
const installed = join(app, 'node_modules', 'pipewhy-snapshots');

/** Runs a command to its end; its output must hold no warning of npm. */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (error) throw error;
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
  assert.doesNotMatch(stderr, /npm warn/iu, `${command} ${args.join(' ')} warns`);
  return stdout;
}

function newFolder(name, manifest = {}) {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  return path;
}

const STEPS = {
  'packs nothing stale, and installs with its own engines and without a warning'() {
    const [{ filename, files }] = JSON.parse(
      run('npm', ['pack', '--json', '--pack-destination', folder], TOP).replace(/^[^[]*/u, ''),
    );
    const sources = files
      .map(({ path }) => path)
      // The page is bundled: its files have other names than their sources.
      .filter((path) => /^dist\/(?!page\/).*\.c?js$/u.test(path));
    for (const path of sources) {
      assert.ok(
        existsSync(join(TOP, path.slice('dist/'.length).replace(/js$/u, 'ts'))),
        `${path} has no source`,
      );
    }
    newFolder('app', { type: 'module' });
    run('npm', ['install', '--engine-strict', join(folder, filename)], app);
  },

  'every relative link of a packed document leads to something packed'() {
    const documents = readdirSync(installed, { recursive: true }).filter((path) => path.endsWith('.md'));
    assert.ok(documents.includes('README.md'));
    for (const document of documents) {
      const text = readFileSync(join(installed, document), 'utf8');
      for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/gu)) {
        if (/^[a-z]+:/u.test(target)) continue;
        const path = resolve(installed, dirname(document), target);
        assert.ok(
          !relative(installed, path).startsWith('..') && existsSync(path),
          `${document} links to ${target}`,
        );
      }
    }
  },

  'its types compile strictly, from the oldest TypeScript that is promised to the newest'() {
    run('npm', ['install', '--no-save', '@types/node@20'], app);
    for (const file of ['use.mts', 'use.ts']) cpSync(join(TOP, 'test/package/use.mts'), join(app, file));
    writeFileSync(join(app, 'use.cts'), FROM_COMMONJS);
    const modes = [
      ['--module', 'node16', 'use.mts'],
      ['--module', 'nodenext', 'use.mts'],
      ['--module', 'esnext', '--moduleResolution', 'bundler', 'use.ts'],
    ];
    const fromRequire = ['--module', 'nodenext', 'use.cts'];
    for (const [version, tries] of [
      [OLDEST, modes],
      [OLDEST_REQUIRE, [...modes, fromRequire]],
      [NEWEST, [...modes, fromRequire]],
    ]) {
      const tools = newFolder(`typescript-${version}`);
      run('npm', ['install', '--no-save', `typescript@${version}`], tools);
      const tsc = join(tools, 'node_modules/typescript/bin/tsc');
      const strict = [
        '--noEmit',
        '--strict',
        '--noUncheckedIndexedAccess',
        '--target',
        'es2022',
        '--types',
        'node',
      ];
      for (const mode of tries) run(process.execPath, [tsc, ...strict, ...mode], app);
    }
  },

  'require() gives what import gives'() {
    const same = `import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      for (const name of ['pipewhy-snapshots', 'pipewhy-snapshots/client'])
        if (require(name).SnapshotExistsError !== (await import(name)).SnapshotExistsError) process.exit(1);`;
    run(process.execPath, ['--input-type=module', '--eval', same], app);
  },

  async 'the command serves, and the client publishes and reads'() {
    const args = [
      'pipewhy-snapshots',
      'serve',
      '--port',
      '0',
      '--log-level',
      'error',
      '--root',
      join(folder, 'data'),
    ];
    const service = spawn('npx', ['--no-install', ...args], {
      cwd: app,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    try {
      const url = await new Promise((found, lost) => {
        let text = '';
        const failed = () => lost(new Error(`no URL in ${JSON.stringify(text)}`));
        const timer = setTimeout(failed, 60_000);
        service.once('exit', failed);
        service.stdout.setEncoding('utf8').on('data', (chunk) => {
          const at = /https?:\/\/\S+(?=\s)/u.exec((text += chunk));
          if (at === null) return;
          clearTimeout(timer);
          found(at[0].replace(/[",}]+$/u, ''));
        });
      });
      const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
      const names = [...page.matchAll(/(?:src|href)="(\.\/page\/[^"]+)"/gu)].map(([, name]) => name);
      assert.ok(names.length >= 3, `the page names its files: ${names.join(' ')}`);
      for (const name of names) assert.equal((await fetch(new URL(name, `${url}/`))).status, 200, name);
      const script = `import { SnapshotClient } from 'pipewhy-snapshots/client';
        import { readFileSync } from 'node:fs';
        const { snapshot } = JSON.parse(readFileSync('node_modules/pipewhy-snapshots/examples/npm-packages/metadata.json'));
        const client = new SnapshotClient(process.argv[1]);
        await client.publish(snapshot, { ids: new BigUint64Array([1n, 2n, 3n]) });
        const { arrays } = await client.open(snapshot.snapshot_id);
        await client.close();
        if (String(arrays.ids) !== '1,2,3') process.exit(1);`;
      run(process.execPath, ['--input-type=module', '--eval', script, url], app);
    } finally {
      service.removeAllListeners('exit');
      if (service.exitCode === null) process.kill(-service.pid, 'SIGTERM');
    }
  },
};

try {
  for (const [name, step] of Object.entries(STEPS)) {
    await step();
    console.log(`ok: ${name}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
