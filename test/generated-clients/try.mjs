/**
 * Generates clients from openapi/openapi.json with four generators as their users run them, compiles what they write under
 * strict TypeScript, and publishes and reads with each against a started service that asks for a token; first the rules of
 * Spectral. The tools are a package of their own (`npm ci` here); `npm run test:clients` installs and runs.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../dist/src/cli/entry.cjs', import.meta.url));
const DOCUMENT = '../../openapi/openapi.json';
const GENERATED = 'dist/generated';
const README = readFileSync(new URL('../../examples/README.md', import.meta.url), 'utf8');

/** Programs of clients/ by their generator: how its users call it. */
const GENERATORS = {
  'openapi-typescript': ['openapi-typescript', DOCUMENT, '-o', `${GENERATED}/openapi-typescript.ts`],
  'hey-api': ['openapi-ts', '-i', DOCUMENT, '-o', `${GENERATED}/hey-api`, '--no-log-file'],
  orval: ['orval'],
  'swagger-typescript-api': [
    'swagger-typescript-api',
    'generate',
    '--path',
    DOCUMENT,
    '--output',
    GENERATED,
    '--name',
    'swagger-typescript-api.ts',
    '--enum-style',
    'union',
  ],
};

/** A command of this package; what it prints, and an error with all of that where it fails. */
function run(command, args, environment = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: HERE,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    timeout: 120_000,
  });
  if (error) throw error;
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

const tool = (name, ...args) => run(join('node_modules', '.bin', name), args);

async function serving(root, token) {
  const child = spawn(
    process.execPath,
    [COMMAND, 'serve', '--root', root, '--port', '0', '--log-level', 'error'],
    {
      env: { ...process.env, SNAPSHOTS_TOKEN: token },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /https?:\/\/[^\s"]+$/u.exec(line.trim());
    if (url !== null) return { url: url[0], stop: () => child.kill('SIGTERM') };
  }
  throw new Error('The service ended before it listened.');
}

/** The programs that the document has for its readers, as they are printed but for folder and address. */
function writeReadmeBlocks() {
  const blocks = [...README.matchAll(/^```ts\n(.*?)^```$/gmsu)].map(([, text]) => text);
  assert.equal(blocks.length, 2);
  mkdirSync(join(HERE, GENERATED, 'readme'), { recursive: true });
  for (const [index, name] of ['publish', 'functions'].entries()) {
    const text = blocks[index]
      .replaceAll("'./snapshots/", "'../hey-api/")
      .replace(/(['`])http:\/\/127\.0\.0\.1:8750(.*?)\1/gu, "`${process.env['SERVICE_URL'] ?? ''}$2`");
    writeFileSync(join(HERE, GENERATED, 'readme', `${name}.ts`), text);
  }
}

const STEPS = {
  "Spectral's recommended rules find nothing, not even a hint"() {
    tool('spectral', 'lint', '--fail-severity', 'hint', DOCUMENT);
  },

  'examples/README.md names the versions that are tried'() {
    const { devDependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
    for (const [name, version] of Object.entries(devDependencies)) {
      if (/openapi|orval|swagger/u.test(name)) assert.ok(README.includes(`${name} ${version}`), name);
    }
  },

  'all four generators take the document'() {
    rmSync(join(HERE, 'dist'), { recursive: true, force: true });
    writeReadmeBlocks();
    for (const [program, [name, ...args]] of Object.entries(GENERATORS)) {
      const printed = tool(name, ...args);
      assert.doesNotMatch(printed, /\bwarn/iu, `${program} warns:\n${printed}`);
    }
  },

  'what they write compiles strictly'() {
    // One of them asks the compiler to look away.
    const file = join(HERE, GENERATED, 'swagger-typescript-api.ts');
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^\/\/ @ts-nocheck$/mu);
    writeFileSync(file, text.replace(/^\/\/ @ts-nocheck$/mu, ''));
    tool('tsc', '--project', '.');
  },
};

let service;
for (const program of Object.keys(GENERATORS)) {
  STEPS[`the client of ${program} publishes, reads, lists and sees refusals`] = () => {
    const printed = run(process.execPath, ['--test', `dist/built/clients/${program}.js`], {
      SERVICE_URL: service.url,
      SERVICE_TOKEN: token,
    });
    assert.match(printed, /^# pass 4$/mu, printed);
  };
}

STEPS['the program of examples/README.md publishes and reads'] = () => {
  const printed = run(process.execPath, [`dist/built/${GENERATED}/readme/publish.js`], {
    SERVICE_URL: service.url,
    SNAPSHOTS_TOKEN: token,
  });
  assert.match(printed, /^[0-9a-f]{32} BigUint64Array\(3\) \[ 1n, 2n, 3n \]\n$/u);
};

const folder = mkdtempSync(join(tmpdir(), 'snapshots-clients-'));
const token = randomBytes(24).toString('base64url');
try {
  service = await serving(folder, token);
  for (const [name, step] of Object.entries(STEPS)) {
    step();
    console.log(`ok: ${name}`);
  }
} finally {
  service?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
