// Publishes the columns of ../npm-packages with this project's own client and reads them back, proven.
//
//   node examples/node-client/publish.mjs [--id <32 hex digits>] [http://127.0.0.1:8750]
//
// The address may also be given as SNAPSHOTS_URL, a token as SNAPSHOTS_TOKEN. In a package of your own the import is the
// same, once pipewhy-snapshots is among its dependencies.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SnapshotClient, SnapshotClientError } from 'pipewhy-snapshots/client';

const COLUMNS = new URL('../npm-packages/', import.meta.url);
const { values, positionals } = parseArgs({ options: { id: { type: 'string' } }, allowPositionals: true });
const url = positionals[0] ?? process.env.SNAPSHOTS_URL ?? 'http://127.0.0.1:8750';
const token = process.env.SNAPSHOTS_TOKEN;

const document = JSON.parse(await readFile(new URL('metadata.json', COLUMNS)));
const id = (document.snapshot.snapshot_id = values.id ?? document.snapshot.snapshot_id);
const keys = Object.keys(document.arrays);
const fileOf = (key) => new URL(`array-${key}.bin`, COLUMNS);

const client = new SnapshotClient({ baseUrl: url, ...(token ? { token } : {}) });
try {
  // Files are streamed; typed arrays and streams would do as well. A taken id is no failure if exactly these arrays and
  // this metadata are stored under it: the client compares the digests.
  const arrays = Object.fromEntries(keys.map((key) => [key, { path: fileURLToPath(fileOf(key)) }]));
  const published = await client.publish(document, arrays, { ifExists: 'confirm' });
  const result = published.outcome === 'published' ? 'published' : 'exists already, the same one';

  // Every array arrives as a typed array and has been proven against the manifest's SHA-256.
  const snapshot = await client.open(id);
  for (const key of keys) {
    const { buffer, byteOffset, byteLength } = snapshot.arrays[key];
    const stored = Buffer.from(buffer, byteOffset, byteLength);
    if (!stored.equals(await readFile(fileOf(key)))) throw new Error(`${key} came back changed`);
  }
  console.log(
    `${result}: ${id}, ${keys.length} arrays read back and proven, manifest_sha256 ${snapshot.manifestSha256}`,
  );
} catch (error) {
  if (!(error instanceof SnapshotClientError)) throw error;
  console.error(`not published (${error.code}): ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
