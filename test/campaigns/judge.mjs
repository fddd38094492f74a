/**
 * Compares this project's judgement of metadata documents and manifests with `judge.py`, which was written from the
 * contract alone, on damaged documents: the verdicts must be the same.
 *
 *     npm run build && node test/campaigns/judge.mjs [--seed 1] [--count 20000]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseDraft, parseManifest } from '../../dist/src/contract/manifest.js';
import { parseStrictJson } from '../../dist/src/contract/strict-json.js';
import { damageBytes, damageDocument, pick, spell, upTo } from './mutations.mjs';
import {
  finish,
  flagsOf,
  hasCommand,
  idOf,
  metadataOf,
  randomOf,
  sha256,
  skipped,
  summary,
} from './support.mjs';

const { seed, count } = flagsOf({ seed: 1, count: 20_000 });
if (!hasCommand('python3')) {
  skipped('metadata and manifests against Python', 'there is no python3');
  finish();
}
const random = randomOf(seed);

function entry(key, dtype, items, draft) {
  const width = Number(/\d+/u.exec(dtype)[0]) / 8;
  const all = {
    file: `array-${key}.bin`,
    dtype,
    count: String(items),
    byte_length: String(items * width),
    endianness: 'little',
    sha256: sha256(Buffer.alloc(items * width)),
  };
  if (!draft) return all;
  const kept = Object.entries(all).filter(([name]) => name === 'dtype' || random() < 0.3);
  return Object.fromEntries(kept);
}

function documentOf(draft) {
  const { snapshot } = metadataOf(
    idOf(upTo(random, 1000)),
    {},
    { parent: pick(random, [null, 'f'.repeat(32)]) },
  );
  const coverage = pick(random, [
    { status: 'COMPLETE', expected_records: '7', returned_records: '7', failure_reasons: [] },
    { status: 'PARTIAL', expected_records: null, returned_records: '7', failure_reasons: ['late'] },
    { status: 'PARTIAL', expected_records: '9', returned_records: '7', failure_reasons: ['é', 'b'] },
    { status: 'UNAVAILABLE', expected_records: '9', returned_records: '0', failure_reasons: ['gone'] },
  ]);
  const keys = ['ids', 'constructor', 'a0_b', 'con'].slice(0, upTo(random, 5));
  const dtypes = ['int8', 'uint8', 'int16', 'uint64'];
  const arrays = Object.fromEntries(
    keys.map((key) => [key, entry(key, pick(random, dtypes), upTo(random, 5), draft)]),
  );
  const kind = { format: 'pipewhy.snapshot', version: 1, array_schema_version: '1.0' };
  return { ...(draft && random() < 0.7 ? {} : kind), snapshot: { ...snapshot, coverage }, arrays };
}

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object' || value.constructor?.name === 'Raw') return value;
  const copy = {};
  for (const name of Object.keys(value).sort()) {
    Object.defineProperty(copy, name, { value: sorted(value[name]), enumerable: true });
  }
  return copy;
};

const cases = [];
for (let number = 0; number < count; number += 1) {
  const draft = random() < 0.5;
  const document = documentOf(draft);
  const id = document.snapshot.snapshot_id;
  for (let damages = upTo(random, 4); damages > 0; damages -= 1) damageDocument(random, document);
  let bytes = Buffer.from(draft ? spell(document, pick(random, ['', ' ', '\n'])) : spell(sorted(document)));
  if (random() < 0.3) bytes = damageBytes(random, bytes);
  cases.push({ kind: draft ? 'metadata' : 'manifest', bytes, id });
}

function verdictOf({ kind, bytes, id }) {
  if (kind === 'manifest') {
    try {
      return parseManifest(bytes).snapshot.snapshot_id === id ? 'ok' : 'invalid';
    } catch {
      return 'invalid';
    }
  }
  let value;
  try {
    value = parseStrictJson(bytes);
  } catch {
    return 'malformed';
  }
  try {
    parseDraft(value);
    return 'ok';
  } catch (error) {
    return error.code === 'contract_violation' ? 'violation' : `thrown: ${error.message}`;
  }
}

const input = cases.map(({ kind, bytes, id }) =>
  JSON.stringify({ kind, bytes: bytes.toString('base64'), id }),
);
const python = spawnSync('python3', [fileURLToPath(new URL('./judge.py', import.meta.url))], {
  input: input.join('\n'),
  maxBuffer: 1 << 28,
  encoding: 'utf8',
});
if (python.status !== 0) {
  console.error(python.stderr);
  process.exit(2);
}
const theirs = python.stdout.trim().split('\n');
const violations = [];
const seen = {};
for (const [number, one] of cases.entries()) {
  const ours = verdictOf(one);
  seen[`${one.kind} ${ours}`] = (seen[`${one.kind} ${ours}`] ?? 0) + 1;
  if (ours !== theirs[number]) {
    violations.push(
      `${one.kind}: here ${ours}, there ${theirs[number]}: ${JSON.stringify(one.bytes.toString('latin1')).slice(0, 1500)}`,
    );
  }
}
console.error(
  `  ${Object.entries(seen)
    .map(([verdict, times]) => `${verdict}: ${times}`)
    .join(', ')}`,
);
// A run in which nothing is accepted or nothing refused would compare nothing.
for (const verdict of [
  'metadata ok',
  'metadata malformed',
  'metadata violation',
  'manifest ok',
  'manifest invalid',
]) {
  if (count >= 1000 && (seen[verdict] ?? 0) < count / 100)
    violations.push(`hardly any document is ${verdict}`);
}
summary('metadata and manifests against Python', `${count} damaged documents`, violations);
finish();
