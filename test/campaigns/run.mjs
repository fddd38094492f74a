/**
 * Runs the campaigns one after the other and prints one table: what was tried, how often, violations.
 *
 *     npm run build && node test/campaigns/run.mjs [--seed 1] [--seconds 60] [--only power-cut-real,many-processes]
 *
 * `--seconds` is the time that each campaign may take, roughly; more of it tries more. A campaign that fails can be run
 * alone with the same seed. Exits 1 if any of them found a violation or did not end by itself.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { flagsOf } from './support.mjs';

/** Name of the script, and which of its flags the common ones become. */
const CAMPAIGNS = {
  'removed-guards': () => [],
  'power-cut-enumerated': ({ seed, seconds }) => ['--seed', seed, '--seconds', seconds],
  'power-cut-real': ({ seed, seconds }) => ['--seed', seed, '--seconds', seconds, '--rounds', 1000],
  // About a second per call: this many seconds for all of them on an idle machine.
  'kill-everywhere': ({ seed, seconds }) => ['--seed', seed, '--seconds', seconds * 3],
  'many-processes': ({ seed, seconds }) => ['--seed', seed, '--seconds', seconds],
  'failing-operations': () => [],
  fuzz: ({ seed, seconds }) => ['--seed', seed, '--seconds', seconds],
  judge: ({ seed, seconds }) => ['--seed', seed, '--count', seconds * 400],
  pressure: ({ seed }) => ['--seed', seed],
  'json-against-python': ({ seed, seconds }) => ['--seed', seed, '--count', seconds * 1000],
  'aborted-transfers': ({ seed, seconds }) => ['--seed', seed, '--count', Math.max(500, seconds * 8)],
  hostile: ({ seed, seconds }) => ['--seed', seed, '--gib', Math.max(2, Math.round(seconds / 15))],
  listings: ({ seconds }) => ['--many', seconds * 300, '--large', seconds * 5],
  comparison: ({ seconds }) => ['--mib', Math.max(64, Math.min(1024, seconds * 16))],
  'refused-clients': ({ seconds }) => ['--times', Math.max(1, Math.min(10, Math.round(seconds / 6)))],
};

const flags = flagsOf({ seed: 1, seconds: 60, only: '' });
const names = flags.only === '' ? Object.keys(CAMPAIGNS) : flags.only.split(',');
const unknown = names.filter((name) => !Object.hasOwn(CAMPAIGNS, name));
if (unknown.length > 0) {
  console.error(
    `There is no campaign ${unknown.join(', ')}; there are ${Object.keys(CAMPAIGNS).join(', ')}.`,
  );
  process.exit(2);
}
const command = new URL('../../dist/src/cli/entry.cjs', import.meta.url);
if (!fs.existsSync(command)) {
  console.error('The campaigns run the built service: npm run build comes first.');
  process.exit(2);
}

const rows = [];
let failed = false;
for (const name of names) {
  console.error(`${name} …`);
  const { lines, status } = await run(name);
  const own = lines.map((line) => line.split(' | ')).filter((cells) => cells.length === 3);
  // A campaign that says its result in a sentence is a row of its own.
  if (own.length === 0)
    rows.push([name, lines.at(-1) ?? 'it said nothing', status === 0 ? '0' : 'see above']);
  rows.push(...own);
  if (status !== 0) failed = true;
  if (status !== 0 && status !== 1) rows.push([name, `it ended with ${status}`, 'see above']);
}
printTable([['campaign', 'tried', 'violations'], ...rows]);
process.exit(failed ? 1 : 0);

function run(name) {
  const script = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [script, ...CAMPAIGNS[name](flags).map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  return new Promise((resolve) => {
    child.once('close', (status, signal) => {
      resolve({ lines: out.split('\n').filter((line) => line !== ''), status: status ?? signal });
    });
  });
}

function printTable(table) {
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  const [head, ...body] = table;
  console.log(line(head));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of body) console.log(line(row));
}
