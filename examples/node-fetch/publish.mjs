// Publishes the columns of ../npm-packages with Node's own fetch and reads them back, proven.
//
//   node examples/node-fetch/publish.mjs [--id <32 hex digits>] [http://127.0.0.1:8750]
//
// The address may also be given as SNAPSHOTS_URL. With --id the same columns become another snapshot.
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const COLUMNS = new URL('../npm-packages/', import.meta.url);
const { values, positionals } = parseArgs({ options: { id: { type: 'string' } }, allowPositionals: true });
const address = positionals[0] ?? process.env.SNAPSHOTS_URL ?? 'http://127.0.0.1:8750';
const url = address.replace(/\/$/, '');

const read = (name) => readFile(new URL(name, COLUMNS));
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const fail = (why) => {
  console.error(why);
  process.exit(1);
};

async function get(path) {
  const answer = await fetch(`${url}/snapshots/${path}`);
  if (!answer.ok) fail(`${path} could not be read (${answer.status}): ${await answer.text()}`);
  return Buffer.from(await answer.arrayBuffer());
}

const document = JSON.parse(await read('metadata.json'));
const original = document.snapshot.snapshot_id;
const id = values.id ?? original;
document.snapshot.snapshot_id = id;
const expected = Buffer.from(String(await read('expected-manifest.json')).replaceAll(original, id));
const digest = sha256(expected);

// metadata first, then one part per array, named by its file.
const form = new FormData();
form.append('metadata', new Blob([JSON.stringify(document)], { type: 'application/json' }));
for (const name of await readdir(COLUMNS)) {
  if (name.endsWith('.bin')) form.append(name, new Blob([await read(name)]), name);
}
const answer = await fetch(`${url}/snapshots`, { method: 'POST', body: form });
const body = Buffer.from(await answer.arrayBuffer());

let result = 'published';
if (answer.status === 409 && JSON.parse(body).manifest_sha256 === digest) {
  result = 'exists already, the same one';
} else if (answer.status !== 201 || !body.equals(expected)) {
  fail(`not published (${answer.status}): ${body}`);
}

const manifest = await get(id);
if (!manifest.equals(expected)) fail('the stored manifest is not the expected one');
const arrays = Object.values(JSON.parse(manifest).arrays);
for (const { file, sha256: proven } of arrays) {
  const stored = await get(`${id}/${file}`);
  if (sha256(stored) !== proven) fail(`${file}: another SHA-256 than the manifest's`);
  if (!stored.equals(await read(file))) fail(`${file} came back changed`);
}
console.log(`${result}: ${id}, ${arrays.length} arrays read back and proven, manifest_sha256 ${digest}`);
