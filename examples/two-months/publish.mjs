// Publishes two captures of a package list, a month apart, to compare them:
//
//   node examples/two-months/publish.mjs [http://127.0.0.1:8750]
//   npx pipewhy-snapshots diff 11000 12000 --key package
//
// The packages of November are the first of ../npm-packages. December is made of them: some have gone, some have come, and
// of some the downloads have changed. A row is a package; its key is the begin of the SHA-256 of its name, so that it stays
// the same wherever the row stands. The address may also be given as SNAPSHOTS_URL, a token as SNAPSHOTS_TOKEN.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SnapshotClient } from 'pipewhy-snapshots/client';

const ROWS = 5_000;
const COLUMNS = new URL('../npm-packages/', import.meta.url);
const column = async (key) => {
  const bytes = await readFile(new URL(`array-${key}.bin`, COLUMNS));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
};

const names = Buffer.from(await column('name_bytes'));
const offsets = new BigUint64Array(await column('name_offsets'));
const downloads = new BigUint64Array(await column('downloads'));
const all = Array.from({ length: ROWS + 50 }, (_, row) => {
  const name = names.subarray(Number(offsets[row]), Number(offsets[row + 1]));
  return {
    key: createHash('sha256').update(name).digest().readBigUInt64LE(),
    downloads: downloads[row],
    length: name.length,
  };
});
const november = all.slice(0, ROWS);
// Every hundredth has gone, every tenth is downloaded more, and fifty have come.
const december = all
  .filter((_, row) => row >= ROWS || row % 100 !== 99)
  .map((row, at) => (at % 10 === 0 ? { ...row, downloads: row.downloads + 1n } : row));

const { snapshot } = JSON.parse(await readFile(new URL('metadata.json', COLUMNS)));
const monthOf = (id, parent, version, day, rows) => {
  // In ascending order of their keys, snapshots of any size are compared in bounded memory.
  const sorted = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const count = String(sorted.length);
  const at = BigInt(Date.parse(`${day}T00:00:00Z`)) * 1_000_000n;
  const metadata = {
    ...snapshot,
    snapshot_id: id,
    parent_id: parent,
    source_namespace: 'npm.months',
    source_version: version,
    scope: 'packages of a list',
    started_at_ns: String(at),
    finished_at_ns: String(at + 1n),
    coverage: { status: 'COMPLETE', expected_records: count, returned_records: count, failure_reasons: [] },
  };
  const arrays = {
    package: BigUint64Array.from(sorted, (row) => row.key),
    downloads: BigUint64Array.from(sorted, (row) => row.downloads),
    name_length: Int16Array.from(sorted, (row) => row.length),
  };
  return { metadata, arrays };
};

const NOVEMBER = '11'.padEnd(32, '0');
const DECEMBER = '12'.padEnd(32, '0');
const token = process.env.SNAPSHOTS_TOKEN;
const baseUrl = process.argv[2] ?? process.env.SNAPSHOTS_URL ?? 'http://127.0.0.1:8750';
const client = new SnapshotClient({ baseUrl, ...(token ? { token } : {}) });
try {
  for (const { metadata, arrays } of [
    monthOf(NOVEMBER, null, '2026-11', '2026-11-01', november),
    monthOf(DECEMBER, NOVEMBER, '2026-12', '2026-12-01', december),
  ]) {
    await client.publish(metadata, arrays, { ifExists: 'confirm' });
    console.log(`${metadata.source_version}  ${metadata.snapshot_id}`);
  }
} finally {
  await client.close();
}
