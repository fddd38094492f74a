/** Socket activation: the service takes over a socket that listens already (sd_listen_fds). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';

import { bodyOf } from '../http/multipart-support.ts';
import { ask } from '../support/http.ts';
import { COMMAND } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, packagePath, pattern, temporaryRoot } from '../support/stores.ts';
import { MULTIPART } from '../support/uploads.ts';
import { eventually, head, Wire } from '../support/wire.ts';

/** What systemd does: listens, passes the sockets from descriptor 3 on, and becomes the service. */
const ACTIVATE = `
import os, socket, sys
count = int(sys.argv[1])
passed = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
copies = [os.dup(s.fileno()) for s in passed]
for number, copy in enumerate([os.dup(copy) for copy in copies]):
    os.dup2(copy, 3 + number)
    os.set_inheritable(3 + number, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count))
os.execv(sys.argv[2], sys.argv[2:])
`;

function activate(root: string, sockets: number, ...flags: string[]) {
  const command = [COMMAND, 'serve', '--root', root, ...flags];
  const child = spawn('python3', ['-c', ACTIVATE, String(sockets), ...command], {
    env: { PATH: process.env['PATH'], SNAPSHOTS_RESERVE_BYTES: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, output, ended };
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)('a passed socket', () => {
  it('is served, and SIGTERM lets the upload end that runs on it', async () => {
    const root = temporaryRoot();
    const { child, output, ended } = activate(root, 1);
    await eventually('it listens', () => output.stdout.endsWith('\n'));
    const url = output.stdout.trim().split(' ').at(-1)!;
    const id = idOf(1);
    const body = bodyOf([
      {
        name: 'metadata',
        payload: JSON.stringify({ snapshot: metadataOf(id), arrays: { ids: { dtype: 'uint8' } } }),
      },
      { name: 'ids', payload: Buffer.from(pattern(300_000)) },
    ]);
    const wire = await Wire.open(url);
    await wire.send(
      head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${body.length}`]),
    );
    await wire.send(body.subarray(0, 150_000));
    await eventually('the attempt is made', () => attemptsOf(root).length === 1);

    child.kill('SIGTERM');
    await eventually('it is told', () => output.stderr.includes('SIGTERM: stopping'));
    await wire.send(body.subarray(150_000));
    expect((await wire.answer())?.status).toBe(201);
    expect(await ended).toEqual([0, null]);
    expect(attemptsOf(root)).toEqual([]);
    expect(packagePath(root, id)).toSatisfy(existsSync);
  });

  it('is served by several processes, and outlives them all', async () => {
    const { child, output, ended } = activate(temporaryRoot(), 1, '--processes', '2');
    await eventually('it listens', () => output.stdout.endsWith('\n'), 20_000);
    const url = output.stdout.trim().split(' ').at(-1)!;
    expect((await ask(url, '/readyz')).status).toBe(200);
    const pid = child.pid!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    expect(children).toHaveLength(2);
    for (const one of children) process.kill(Number(one), 'SIGKILL');
    expect((await ask(url, '/readyz')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('is refused beside a second one, which nobody would answer', async () => {
    const { output, ended } = activate(temporaryRoot(), 2);
    expect(await ended).toEqual([1, null]);
    expect(output.stderr).toMatch(/^pipewhy-snapshots: 2 sockets [^\n]*ListenStream=[^\n]*\n$/u);
    expect(output.stdout).toBe('');
  });
});
