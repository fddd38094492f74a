/** This service, started as `npm start` does, so that its own process settings apply. */
import { randomBytes, randomFillSync } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expectStatus, request } from '../lib/connection.mjs';
import { curl } from '../lib/curl.mjs';

const COMMAND = fileURLToPath(new URL('../../dist/src/cli/entry.cjs', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const SMALL_KEYS = ['first', 'second', 'third'];
const BOUNDARY = 'bench-5d1f0a6c';
const START_LIMIT_MS = 15_000;

const ALGORITHM = { name: 'bench-fingerprint', id: 'bench-fingerprint/1' };
const CONTEXT = {
  context_id: 'bench-context',
  algorithm_id: ALGORITHM.id,
  normalization_profile_id: 'bench-normalization/1',
  source_schema_id: 'bench-schema/1',
  mode: 'ordered',
};

export const name = 'pipewhy';
export const module = 'pipewhy';

/** @returns {string | null} why it cannot take part */
export function missing() {
  return existsSync(COMMAND) ? null : 'this service is not built: npm run build';
}

/** @type {import('./index.mjs').Start} */
export async function start(workspace, options = {}) {
  const dir = options.root ?? workspace.folder('pipewhy');
  const contexts = join(workspace.dir, 'contexts.json');
  writeFileSync(contexts, JSON.stringify({ algorithms: [ALGORITHM], contexts: [CONTEXT] }));
  const [command, args, settings] =
    options.profileDir === undefined ? startScript() : profiled(options.profileDir);
  const [program, ...words] = [...(options.by ?? []), command, ...args, ...(options.flags ?? [])];
  const child = workspace.spawn(/** @type {string} */ (program), words, {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...withoutOwnSettings(),
      ...settings,
      SNAPSHOTS_ROOT: dir,
      SNAPSHOTS_HOST: '127.0.0.1',
      SNAPSHOTS_PORT: '0',
      SNAPSHOTS_CONTEXTS: contexts,
      // wrk breaks off what is under way when its time is up, which is worth a warning each.
      SNAPSHOTS_LOG_LEVEL: 'error',
      ...(options.verify === undefined ? {} : { SNAPSHOTS_VERIFY: options.verify }),
      ...options.env,
    },
  });
  const port = await announcedPort(child);
  const shown = options.verify === undefined ? name : `${name}, verify ${options.verify}`;
  return { name: shown, module, port, dir, pid: Number(child.pid), stop: () => workspace.stop(child) };
}

/** The script of package.json: it becomes the service by `exec`, so that its process is the one that is measured. */
function startScript() {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  return ['sh', ['-c', `${scripts.start} "$@"`, 'sh'], {}];
}

/** @type {import('./index.mjs').Upload} */
export async function upload(workspace, target, source, id) {
  const metadata = JSON.stringify(document(id, { values: { dtype: 'uint64' } }, source.bytes / 8));
  const form = ['--form-string', `metadata=${metadata}`, '--form', `values=@${source.path}`];
  return curl(workspace, [...form, `http://127.0.0.1:${target.port}/snapshots`], 201);
}

/** @type {import('./index.mjs').PathOf} */
export function pathOf(_source, id) {
  return `/snapshots/${id}/array-values.bin`;
}

/** @type {import('./index.mjs').Discard} */
export function discard(target, _source, id) {
  rmSync(join(target.dir, 'snapshots', id), { recursive: true });
}

/** @type {import('./index.mjs').SmallPut} */
export function smallPut() {
  const { bytes } = smallPublication();
  return async (connection) => void expectStatus(await connection.send(bytes), 201);
}

/**
 * @param {import('../lib/connection.mjs').Connection} connection
 * @returns {Promise<{ path: string, manifest: Buffer }>} where the new snapshot's manifest can be read
 */
export async function publishSmall(connection) {
  const { id, bytes } = smallPublication();
  const { body } = expectStatus(await connection.send(bytes), 201);
  return { path: `/snapshots/${id}`, manifest: Buffer.from(body) };
}

/** A whole request that publishes three 4 KiB arrays. */
function smallPublication() {
  const id = randomBytes(16).toString('hex');
  const parts = SMALL_KEYS.map((key) => part(key, randomFillSync(Buffer.alloc(4096))));
  const body = Buffer.concat([
    part('metadata', Buffer.from(JSON.stringify(smallDocument(id)))),
    ...parts,
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
  const headers = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
  return { id, bytes: request('POST', '/snapshots', headers, body) };
}

/** The metadata of three 4 KiB arrays. @param {string} id */
export function smallDocument(id) {
  return document(id, Object.fromEntries(SMALL_KEYS.map((key) => [key, { dtype: 'uint64' }])), 512);
}

/** @param {string} partName @param {Buffer} body */
function part(partName, body) {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${partName}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n')]);
}

/** @param {string} id @param {Record<string, { dtype: string }>} arrays @param {number} records */
function document(id, arrays, records) {
  return {
    snapshot: {
      snapshot_id: id,
      parent_id: null,
      source_namespace: 'bench',
      source_version: '1',
      source_consistency: 'single writer',
      scope: 'bench',
      started_at_ns: '1700000000000000000',
      finished_at_ns: '1700000001000000000',
      resolution: 'value',
      coverage: {
        status: 'COMPLETE',
        expected_records: String(records),
        returned_records: String(records),
        failure_reasons: [],
      },
      fingerprint: { algorithm_name: ALGORITHM.name, ...CONTEXT },
    },
    arrays,
  };
}

/** The service is measured with its own defaults, not with what the caller's shell happens to set. */
function withoutOwnSettings() {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter(([key]) => !/^(SNAPSHOTS_|MALLOC_|UV_|NODE_OPTIONS)/.test(key)));
}

/**
 * node refuses --cpu-prof in NODE_OPTIONS, so that a profile needs node itself on the command line; the settings that
 * the command's first line would have made are made here.
 * @param {string} profileDir
 * @returns {[string, string[], Record<string, string>]}
 */
function profiled(profileDir) {
  const [shell, args, settings] = startScript();
  const profile = `--cpu-prof --cpu-prof-dir='${profileDir}'`;
  return [shell, args.map((arg) => arg.replace('exec node', `exec node ${profile}`)), settings];
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<number>} */
async function announcedPort(child) {
  const lines = createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) });
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('the service did not say its address')), START_LIMIT_MS);
    // Reading goes on after the announcement: a full pipe would stop the service.
    lines.on('line', (line) => {
      const port = /http:\/\/[^\s/]+:(\d+)\/?$/.exec(line.trimEnd())?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      done(Number(port));
    });
    child.once('error', fail);
    child.once('exit', (code) => fail(new Error(`the service ended with ${code} before it listened`)));
  });
}
