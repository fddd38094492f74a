/**
 * Compares the JSON of the contract with Python's, on random documents:
 * canonical bytes with `json.dumps`, and accept or refuse on damaged texts with a strict reader built on `json.loads`.
 *
 *     npm run build && node test/campaigns/json-against-python.mjs [--count 20000] [--seed 1]
 *
 * Prints one line. Exits 1 if they differ anywhere, 0 otherwise, and 0 with a note where python3 is missing.
 */

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

import { canonicalJson } from '../../dist/src/contract/canonical-json.js';
import { parseStrictJson } from '../../dist/src/contract/strict-json.js';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error('Expected --count as a positive integer and --seed as an integer.');
  process.exit(2);
}

/** Reads lines of {"c": base64} or {"t": base64}: canonical bytes of a document, or a text to judge. */
const PYTHON = String.raw`
import base64, json, sys

def once(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate name")
    return members

def no_constant(name):
    raise ValueError(name)

def read(data):
    # parse_float and parse_int as str: neither the size nor the precision of a number is judged here.
    return json.loads(data.decode("utf-8", "strict"), object_pairs_hook=once, parse_constant=no_constant,
                      parse_float=str, parse_int=str)

for line in sys.stdin:
    kind, data = line.split()
    data = base64.b64decode(data)
    if kind == "c":
        text = json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        print(base64.b64encode(text.encode("utf-8")).decode())
    else:
        try:
            read(data)
            print("accept")
        except (ValueError, RecursionError):
            print("refuse")
`;

// mulberry32: small, seeded, good enough to pick documents.
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];

const RANGES = [
  [0x00, 0x1f],
  [0x20, 0x7f],
  [0x61, 0x66],
  [0x80, 0x7ff],
  [0x2028, 0x2029],
  [0xd700, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
];

function randomText() {
  return Array.from({ length: below(6) }, () => {
    const [first, last] = pick(RANGES);
    return String.fromCodePoint(first + below(last - first + 1));
  }).join('');
}

function randomValue(depth) {
  switch (below(depth > 0 ? 7 : 4)) {
    case 0:
      return pick([null, true, false]);
    case 1:
      return pick([0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, below(1000), -below(2 ** 31)]);
    case 2:
    case 3:
      return randomText();
    case 4:
      return Array.from({ length: below(5) }, () => randomValue(depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: below(7) }, () => [randomText(), randomValue(depth - 1)]),
      );
  }
}

const SNIPPETS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '/',
    '-',
    '+',
    '.',
    'e',
    'E',
    '0',
    '1',
    '01',
    '1.',
    '-0',
    '1e5',
    '1.5',
  ],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    'null',
    'true',
    'nul',
    ' ',
    '\t',
    '\n',
    '\r',
    '\f',
    '\v',
    '\u00a0',
    '\ufeff',
  ],
  ...[
    '\\u0061',
    '\\ud800',
    '\\u12',
    '\\x',
    '\\n',
    "'",
    '\u0000',
    '\u001f',
    '\u007f',
    '{}',
    '[]',
    '"a":1,"a":1',
  ],
  ...['{"a":1,"\\u0061":2}', '{"a":1,"b":2}', '/**/', '1'.repeat(5000), '٣'],
].map((text) => Buffer.from(text));
const BYTES = [0xff, 0xc0, 0x80, 0xed, 0xa0, 0xf5, 0xe2, 0x00].map((byte) => Buffer.of(byte));

/** One to three cuts and insertions at random places of a document's bytes. */
function damaged(bytes) {
  let damagedBytes = bytes;
  for (let left = 1 + below(3); left > 0; left -= 1) {
    const at = below(damagedBytes.length + 1);
    const snippet = below(10) === 0 ? pick(BYTES) : below(4) === 0 ? Buffer.alloc(0) : pick(SNIPPETS);
    damagedBytes = Buffer.concat([
      damagedBytes.subarray(0, at),
      snippet,
      damagedBytes.subarray(at + below(3)),
    ]);
  }
  return damagedBytes;
}

function verdict(bytes) {
  try {
    parseStrictJson(bytes);
    return 'accept';
  } catch (error) {
    if (error.code !== 'malformed_json') throw error;
    return 'refuse';
  }
}

const cases = [];
for (let index = 0; index < count; index += 1) {
  const value = randomValue(4);
  const canonical = Buffer.from(canonicalJson(value));
  cases.push({ kind: 'c', input: Buffer.from(JSON.stringify(value)), ours: canonical.toString('base64') });
  const whole = Buffer.from(JSON.stringify(value, null, pick([0, 1, '\t'])));
  const text = below(20) === 0 ? whole : damaged(whole);
  cases.push({ kind: 't', input: text, ours: verdict(text) });
}

const python = spawnSync('python3', ['-c', PYTHON], {
  input: cases.map(({ kind, input }) => `${kind} ${input.toString('base64') || '='}\n`).join(''),
  maxBuffer: 2 ** 31 - 1,
  encoding: 'utf8',
});
if (python.error?.code === 'ENOENT') {
  console.log('json-against-python: skipped, there is no python3 here');
  process.exit(0);
}
if (python.status !== 0) {
  console.error(`json-against-python: python3 failed: ${python.error?.message ?? python.stderr}`);
  process.exit(1);
}

const theirs = python.stdout.split('\n');
const differing = cases.filter(({ ours }, index) => theirs[index] !== ours);
const accepted = cases.filter(({ ours }) => ours === 'accept').length;
for (const { kind, input, ours } of differing.slice(0, 5)) {
  console.error(
    `differs (${kind === 'c' ? 'canonical bytes' : `we ${ours}`}): ${JSON.stringify(input.toString())}`,
  );
}
console.log(
  `json-against-python: seed ${seed}, ${count} canonical documents and ${count} texts ` +
    `(${accepted} accepted, ${count - accepted} refused), ${differing.length} differences`,
);
process.exit(differing.length === 0 ? 0 : 1);
