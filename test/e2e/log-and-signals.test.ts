/** Neither the log nor a signal that means nothing here decides over the service, and every wish to stop is obeyed. */
import { execFileSync, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

import { LineWriter } from '../../src/log.ts';
import { ask } from '../support/http.ts';
import { idOf, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';
import { eventually, sleep } from '../support/wire.ts';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = join(TOP, 'dist/src/cli/entry.cjs');

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

describe('a line writer', () => {
  const note = (count: number): string => `${count} lost\n`;

  it('keeps a bounded number of bytes for a reader that stands still, counts the rest and says so afterwards', () => {
    let read = '';
    let full = true;
    const lines = new LineWriter((bytes) => {
      if (full) failing('EAGAIN')();
      // As a pipe does: not everything at once.
      const some = bytes.subarray(0, 1000);
      read += Buffer.from(some).toString();
      return some.length;
    }, note);
    const line = `${'x'.repeat(1023)}\n`;
    for (let number = 0; number < 3000; number += 1) lines.write(line);
    expect(lines.waitingBytes).toBe(1024 * 1024);
    expect(lines.dropped).toBe(3000 - 1024);
    full = false;
    lines.flush();
    expect(lines.waitingBytes).toBe(0);
    expect(read).toBe(`${line.repeat(1024)}${3000 - 1024} lost\n`);
  });

  it('drops what cannot be written, and a line after half a one begins anew', () => {
    let read = '';
    const answers = [4, -1, -1, 100, 100, 100];
    const lines = new LineWriter((bytes) => {
      const count = answers.shift() ?? 100;
      if (count < 0) failing('ENOSPC')();
      const some = bytes.subarray(0, count);
      read += Buffer.from(some).toString();
      return some.length;
    }, note);
    for (const text of ['first', 'second', 'third']) lines.write(`${text}\n`);
    expect(read).toMatch(/^firs\nthird\n\d lost\n$/u);
    expect(lines.dropped).toBeGreaterThanOrEqual(2);
    expect(lines.waitingBytes).toBe(0);
  });

  it.each(['EIO', 'EPIPE', 'ENOSPC', 'EFBIG', 'EBADF', 'EAGAIN'])('never throws for %s', (code) => {
    const lines = new LineWriter(failing(code), note);
    expect(() => {
      lines.write('a line\n');
    }).not.toThrow();
  });
});

/** The command with descriptors of the test's choice. */
function start(stdio: StdioOptions, command = COMMAND, args = ['serve'], env: object = {}) {
  const child = spawn(command, args, {
    cwd: TOP,
    env: { PATH: process.env['PATH'], SNAPSHOTS_ROOT: temporaryRoot(), SNAPSHOTS_PORT: '0', ...env },
    stdio,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  const url = async (): Promise<string> => {
    await eventually('it listens', () => / \S+:\d+\n/u.test(output.stdout), 20_000);
    return / (\S+:\d+)\n/u.exec(output.stdout)![1]!;
  };
  return { child, output, ended, url };
}

async function droppedLines(url: string): Promise<number> {
  const { body } = await ask(url, '/metrics');
  return Number(/^pipewhy_snapshots_log_lines_dropped_total (\d+)$/mu.exec(body.toString())?.[1]);
}

function descriptor(path: string, flags: number): number {
  const opened = fs.openSync(path, flags);
  onTestFinished(() => {
    fs.closeSync(opened);
  });
  return opened;
}

function fifo(): number {
  const path = join(temporaryRoot(), 'log');
  execFileSync('mkfifo', [path]);
  return descriptor(path, fs.constants.O_RDWR);
}

describe('a log that', () => {
  it('is on a full file system loses its lines alone; signals without a meaning here do nothing; SIGTERM twice at once is one wish', async () => {
    const { child, ended, url } = start(['ignore', 'pipe', descriptor('/dev/full', fs.constants.O_WRONLY)]);
    const at = await url();
    for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGPIPE'] as const) child.kill(signal);
    expect((await publish(at, idOf(1), EXAMPLE_ARRAYS)).status).toBe(201);
    expect(await droppedLines(at)).toBeGreaterThan(3);
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    ['pipe', fifo],
    ['socket', () => 'pipe' as const],
  ])('goes to a full %s is bounded, and the service stops', async (_what, make) => {
    const { child, ended, url } = start(['ignore', 'pipe', make()]);
    const at = await url();
    const headers = { 'user-agent': 'x'.repeat(12_000) };
    for (let number = 0; number < 200; number += 1) {
      expect((await ask(at, '/contexts', { headers })).status).toBe(200);
    }
    expect(await droppedLines(at)).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('nobody reads any more does not end the service', async () => {
    const { child, ended, url } = start(['ignore', 'pipe', 'pipe'], COMMAND, ['serve'], {
      SNAPSHOTS_LOG_FORMAT: 'pretty',
    });
    const at = await url();
    child.stderr!.destroy();
    for (let number = 0; number < 3; number += 1) expect((await ask(at, '/contexts')).status).toBe(200);
    expect(await droppedLines(at)).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });
});

describe('a start is one line and exit 1', () => {
  it.each([
    ['where standard output cannot be written', 'exec "$0" serve >/dev/full', /standard output .*ENOSPC/u],
    ['where few files may be opened', 'ulimit -n 64; exec "$0" serve', /raise the limit \(ulimit -n/u],
  ])('%s', (_what, script, sentence) => {
    const { status, stderr } = spawnSync('sh', ['-c', script, COMMAND], {
      env: { PATH: process.env['PATH'], SNAPSHOTS_ROOT: temporaryRoot(), SNAPSHOTS_PORT: '0' },
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/^pipewhy-snapshots: [^\n]+\n$/u);
    expect(stderr).toMatch(sentence);
    expect(status).toBe(1);
  });
});

it('SIGTERM to npm start reaches the service itself', async () => {
  const { child, ended, url } = start(['ignore', 'pipe', 'ignore'], 'npm', ['start'], {
    HOME: temporaryRoot(),
  });
  const at = await url();
  child.kill('SIGTERM');
  await ended;
  const answers = (): Promise<boolean> =>
    ask(at, '/healthz').then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 50 && (await answers()); tries += 1) await sleep(100);
  expect(await answers()).toBe(false);
});

const PTY = `
import os, pty, signal, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"serving" not in seen:
    seen += os.read(master, 4096)
os.close(master)
for _ in range(200):
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        sys.exit(os.waitstatus_to_exitcode(status) % 256)
    time.sleep(0.1)
os.kill(pid, signal.SIGKILL)
sys.exit(99)
`;

it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
  'a service whose terminal is gone stops in order',
  async () => {
    const { ended } = start('ignore', 'python3', ['-c', PTY, COMMAND, 'serve']);
    expect(await ended).toEqual([0, null]);
  },
);
