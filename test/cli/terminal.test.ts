/** What people see on a terminal: tables with a head, sizes in words, and a progress bar that cleans up after itself. */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { progressBar } from '../../src/cli/output.ts';
import {
  clientOf,
  corrupt,
  metadataOf,
  startService,
  temporaryDirectory,
} from '../client/running-service.ts';
import { idOf } from '../support/stores.ts';
import { COMMAND } from './command.ts';

const CONTEXTS = new URL('../vectors/contexts.json', import.meta.url).pathname;
const ID = idOf(1);
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/** A stream that keeps what is written to it. */
function screen(isTTY: boolean) {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  Object.assign(stream, { isTTY, columns: 80 });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => chunks.join('') };
}

describe('the progress bar', () => {
  test('fills, counts, and leaves a clean line and a visible cursor', async () => {
    const { stream, text } = screen(true);
    const bar = await progressBar('fetching', { stream });
    expect(text()).toContain(`fetching ${'.'.repeat(30)} 0 B`);
    await pause(120);
    bar.update(1536, 3072);
    await pause(120);
    expect(text()).toContain(`fetching ${'#'.repeat(15)}${'.'.repeat(15)} 1.5 KiB of 3.0 KiB`);
    bar.update(3072, 3072);
    bar.stop();
    expect(text()).toContain(HIDE_CURSOR);
    expect(text().lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(text().lastIndexOf(HIDE_CURSOR));
    // The last thing drawn is wiped: to the start of the line, and all of it away.
    expect(text().endsWith('\u001b[1G\u001b[2K')).toBe(true);
    const before = text().length;
    bar.stop();
    expect(text().slice(before)).not.toContain('fetching');
  });

  test('only counts where the total is not known', async () => {
    const { stream, text } = screen(true);
    const bar = await progressBar('publishing', { stream });
    await pause(120);
    bar.update(5000, null);
    await pause(120);
    bar.stop();
    expect(text()).toContain(`publishing ${'.'.repeat(30)} 4.9 KiB`);
    expect(text()).not.toContain(' of ');
  });

  test('writes nothing where nobody looks', async () => {
    const { stream, text } = screen(false);
    const bar = await progressBar('fetching', { stream });
    bar.update(1, 2);
    await pause(120);
    bar.stop();
    expect(text()).toBe('');
  });
});

/** The pseudo-terminal of util-linux; the one of other systems takes other flags. */
const probe = spawnSync('script', ['--version'], { encoding: 'utf8' });
const hasTerminal = probe.error === undefined && probe.stdout.includes('util-linux');
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[?\\d;]*[A-Za-z]`, 'gu');

/** Runs the built command on a terminal of its own: both outputs are one screen. */
function onTerminal(
  args: readonly string[],
  cwd: string,
  columns = 140,
): Promise<{ code: number | null; seen: string; lines: string[] }> {
  const quoted = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
  const sized = `stty cols ${columns} rows 40; exec ${quoted}`;
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['-qec', sized, '/dev/null'], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const seen = Buffer.concat(chunks).toString();
      // What is left on the screen: the bar was drawn and wiped on one line.
      const left = seen.replace(ESCAPES, '');
      resolve({ code, seen, lines: left.split(/\r?\n/u).map((line) => line.trimEnd()) });
    });
  });
}

describe.skipIf(!hasTerminal)('on a terminal', () => {
  async function published() {
    const service = await startService();
    const changes = { scope: 'red \u001b[31m\n', source_namespace: 'ns' };
    const arrays = { ids: Int32Array.of(1, 2), flags: new Uint8Array(2000) };
    const { manifestSha256 } = await clientOf(service.url).publish(metadataOf(ID, changes), arrays);
    return { ...service, manifestSha256, cwd: temporaryDirectory() };
  }

  test('publish and get draw a bar and end with one line', async () => {
    const { url, cwd } = await published();
    fs.writeFileSync(join(cwd, 'meta.json'), JSON.stringify(metadataOf(idOf(2))));
    fs.writeFileSync(join(cwd, 'big.bin'), Buffer.alloc(3 * 1024 * 1024));
    const sent = await onTerminal(
      ['publish', '--url', url, '--metadata', 'meta.json', 'big=big.bin:uint8'],
      cwd,
    );
    expect(sent.code).toBe(0);
    expect(sent.seen).toContain(`publishing ${'.'.repeat(30)} 0 B`);
    expect(sent.lines.some((line) => line.endsWith(`published ${idOf(2)} (1 array, 3.0 MiB)`))).toBe(true);
    const got = await onTerminal(['get', ID, '--url', url], cwd);
    expect(got.code).toBe(0);
    expect(got.seen).toContain('fetching ');
    expect(got.seen).toContain(SHOW_CURSOR);
    expect(got.lines.some((line) => line.endsWith(`saved ${ID} (2 arrays, 2.0 KiB, proven)`))).toBe(true);
  });

  test('ls is a table under a head, aligned, with sizes in words and nothing that steers the terminal', async () => {
    const { url, cwd } = await published();
    const { code, seen, lines } = await onTerminal(['ls', '--url', url], cwd);
    expect(code).toBe(0);
    expect(seen).not.toContain('\u001b[31m');
    const [head = '', row = ''] = lines;
    expect(head.split(/ {2,}/u)).toEqual([
      'SNAPSHOT',
      'NAMESPACE',
      'VERSION',
      'SCOPE',
      'COVERAGE',
      'FINISHED',
      'ARRAYS',
      'SIZE',
    ]);
    for (const [title, value] of [
      ['SNAPSHOT', ID],
      ['NAMESPACE', 'ns'],
      ['SCOPE', 'red \\u001b[31m\\u000a'],
      ['ARRAYS', '2'],
      ['SIZE', '2.0 KiB'],
    ] as const) {
      expect(row.slice(head.indexOf(title))).toMatch(
        new RegExp(`^${value.replace(/[\\[\].]/gu, '\\$&')}(?: {2}|$)`, 'u'),
      );
    }
  });

  test.each([34, 40, 47, 60, 80, 120, 148, 200])('the table of ls fits into %i columns', async (columns) => {
    const { url, cwd } = await published();
    const { code, lines } = await onTerminal(['ls', '--url', url], cwd, columns);
    expect(code).toBe(0);
    const [head = '', row = ''] = lines;
    expect(head).toMatch(/^SNAPSHOT .*FINISHED/u);
    expect(row).toMatch(/^[0-9a-f]{11}.* \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/u);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test('show is a list of what is known and a table of the arrays', async () => {
    const { url, cwd, manifestSha256 } = await published();
    const { code, lines } = await onTerminal(['show', ID, '--url', url], cwd);
    expect(code).toBe(0);
    expect(lines).toContain(`snapshot        ${ID}`);
    expect(lines).toContain(`manifest sha256 ${manifestSha256}`);
    const at = lines.findIndex((line) => line.startsWith('ARRAY'));
    expect(lines[at]?.split(/ {2,}/u)).toEqual(['ARRAY', 'DTYPE', 'COUNT', 'BYTES', 'SHA-256']);
    expect(lines[at + 1]).toMatch(/^flags {2}uint8 {2}2000 {3}2000 {3}[0-9a-f]{64}$/u);
    expect(lines[at + 2]).toMatch(/^ids {4}int32 {2}2 {6}8 {6}[0-9a-f]{64}$/u);
  });

  test('incomplete is a table under a head, or a sentence', async () => {
    const { url, root, cwd } = await published();
    expect((await onTerminal(['incomplete', '--url', url], cwd)).lines).toContain(
      'No attempt was left behind.',
    );
    fs.mkdirSync(join(root, 'staging', 'a'.repeat(32)));
    const { lines } = await onTerminal(['incomplete', '--url', url], cwd);
    expect(lines[0]).toMatch(/^ATTEMPT +SNAPSHOT +PHASE +MODIFIED +SIZE +DIAGNOSTIC$/u);
    expect(lines[1]).toMatch(/^staging\/a{32} {2}- +INVALID +\S+Z +0 B +intent\.json is missing/u);
  });

  test('verify counts snapshots in a bar, then says what holds and what does not', async () => {
    const { root, cwd } = await published();
    const good = await onTerminal(['verify', root, '--contexts', CONTEXTS], cwd);
    expect(good.code).toBe(0);
    expect(good.seen).toContain('verifying snapshots ');
    expect(good.lines.some((line) => line.endsWith('The one snapshot is valid (2.0 KiB).'))).toBe(true);
    corrupt(join(root, 'snapshots', ID, 'array-flags.bin'));
    const bad = await onTerminal(['verify', root, '--contexts', CONTEXTS], cwd);
    expect(bad.code).toBe(1);
    expect(bad.lines.some((line) => line.includes(`snapshots/${ID}: checksum: `))).toBe(true);
    expect(bad.lines).toContain('1 of 1 entry cannot be proven.');
  });
});
