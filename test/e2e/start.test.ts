/** How the command starts and what it says where it cannot (CONTRACT, section 4). */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { parseDeclarations } from '../../src/contract/contexts.ts';
import { declarationsRefusal } from '../../src/declarations-file.ts';
import { ask, jsonOf } from '../support/http.ts';
import { runCommand, startServer, type CommandEnd } from '../support/service.ts';
import { declarations, idOf, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';

/** One clear line for people: no stack, no log line beside it. */
function expectOneLine({ status, stdout, stderr }: CommandEnd, what: RegExp): void {
  expect(stderr).toMatch(/^pipewhy-snapshots: [^\n]+\n$/u);
  expect(stderr).toMatch(what);
  expect(stdout).toBe('');
  expect(status).toBe(1);
}

const serve = (...args: string[]): Promise<CommandEnd> => runCommand(['serve', '--port', '0', ...args]);

function declarationsFile(content: string | object): string {
  const path = join(temporaryRoot(), 'contexts.json');
  fs.writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('serve prints one line that ends in the URL it answers at, and stops cleanly', async () => {
  const root = join(temporaryRoot(), 'made', 'as needed');
  const server = await startServer(root);
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/u);
  expect(server.output.stdout).toMatch(/^[^\n]+\n$/u);
  expect(server.output.stdout.endsWith(` ${server.url}\n`)).toBe(true);
  expect(jsonOf(await ask(server.url, '/healthz'))).toEqual({ status: 'alive' });
  expect(fs.readdirSync(root).sort()).toEqual(['snapshots', 'staging']);
  const { status, signal, stdout } = await server.stop();
  expect([status, signal]).toEqual([0, null]);
  expect(stdout.split('\n')).toHaveLength(2);
});

test('the log is one JSON object per line on standard error, a line for every request among them', async () => {
  const server = await startServer(temporaryRoot());
  await publish(server.url, idOf(1), EXAMPLE_ARRAYS);
  const { stderr } = await server.stop('SIGINT');
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === 'request')).toEqual([
    expect.objectContaining({ method: 'POST', path: '/snapshots', status: 201, snapshot_id: idOf(1) }),
  ]);
});

describe('declarations', () => {
  test('the shipped example is in force where none are configured, with a warning', async () => {
    const server = await startServer(temporaryRoot());
    expect(jsonOf(await ask(server.url, '/contexts'))).toEqual(declarations);
    const { stderr } = await server.stop();
    expect(stderr).toMatch(/"level":40.*SNAPSHOTS_CONTEXTS.*example/u);
  });

  test('configured ones are in force without a warning', async () => {
    const own = { algorithms: [{ name: 'own', id: 'own/1' }], contexts: [] };
    const server = await startServer(temporaryRoot(), ['--contexts', declarationsFile(own)]);
    expect(jsonOf(await ask(server.url, '/contexts'))).toEqual(own);
    const { stderr } = await server.stop();
    expect(stderr).not.toContain('"level":40');
  });

  test.each([
    ['no JSON', '{', /declarations/u],
    ['an unknown member', { ...declarations, more: 1 }, /more/u],
    ['a missing member', { algorithms: [] }, /contexts/u],
    ['a context of an undeclared algorithm', { ...declarations, algorithms: [] }, /algorithm/u],
    ['a duplicate name', '{"algorithms":[],"algorithms":[],"contexts":[]}', /algorithms/u],
    ['an empty file', '', /declarations/u],
    ['two faults', { algorithms: 1, contexts: 2 }, /algorithms: [^;]*; [^;]*; contexts: /u],
  ])('with %s are refused in one line that names the file', (_, content, what) => {
    const path = declarationsFile(content);
    let refusal = '';
    try {
      parseDeclarations(fs.readFileSync(path));
    } catch (error) {
      refusal = declarationsRefusal(path, error);
    }
    expect(refusal).toMatch(what);
    expect(refusal).toContain(path);
    expect(refusal).not.toContain('\n');
  });

  test('that cannot be used are one line and exit 1', async () => {
    const path = declarationsFile({ algorithms: 1, contexts: 2 });
    const end = await serve('--root', temporaryRoot(), '--contexts', path);
    expectOneLine(end, /algorithms: [^;]*; [^;]*; contexts: /u);
    expect(end.stderr).toContain(path);
  });

  test('that are missing, or a directory, are one line and exit 1', async () => {
    expectOneLine(
      await serve('--root', temporaryRoot(), '--contexts', '/nonexistent.json'),
      /\/nonexistent\.json.*does not exist \(ENOENT\)/u,
    );
    expectOneLine(await serve('--root', temporaryRoot(), '--contexts', temporaryRoot()), /EISDIR/u);
  });
});

test('a port in use is one line and exit 1', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void holder.close());
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = holder.address() as AddressInfo;
  const end = await runCommand(['serve', '--root', temporaryRoot(), '--port', String(port)]);
  expectOneLine(end, /EADDRINUSE/u);
  expect(end.stderr).toContain(String(port));
});

describe('a root that cannot be used is one line and exit 1:', () => {
  test('a file', async () => {
    const path = join(temporaryRoot(), 'file');
    fs.writeFileSync(path, '');
    expectOneLine(await serve('--root', path), /file/u);
    expect(fs.readFileSync(path)).toHaveLength(0);
  });

  test('a path under a file', async () => {
    const path = join(temporaryRoot(), 'file');
    fs.writeFileSync(path, '');
    expectOneLine(await serve('--root', join(path, 'below')), /ENOTDIR|file/u);
  });

  test.each(['snapshots', 'staging'])('a file or a link for %s', async (room) => {
    const root = temporaryRoot();
    fs.writeFileSync(join(root, room), '');
    expectOneLine(await serve('--root', root), new RegExp(room, 'u'));
    fs.rmSync(join(root, room));
    fs.mkdirSync(join(root, 'elsewhere'));
    fs.symlinkSync(join(root, 'elsewhere'), join(root, room));
    expectOneLine(await serve('--root', root), /link/u);
  });

  test('snapshots and staging on different file systems, or on two mounts of one', async (context) => {
    const root = temporaryRoot();
    for (const room of ['snapshots', 'staging', 'other']) fs.mkdirSync(join(root, room));
    for (const how of [
      ['-t', 'tmpfs', '-o', 'size=1m', 'none'],
      ['--bind', join(root, 'other')],
    ]) {
      for (const room of ['staging', 'snapshots']) {
        const point = join(root, room);
        try {
          execFileSync('mount', [...how, point], { stdio: 'ignore' });
        } catch {
          context.skip('nothing can be mounted here');
        }
        try {
          expectOneLine(await serve('--root', root), /different file systems or mounts/u);
        } finally {
          execFileSync('umount', [point]);
        }
      }
    }
  });
});

describe('settings', () => {
  test('come from the environment, and flags override it', async () => {
    const [one, other] = [temporaryRoot(), temporaryRoot()];
    const file = declarationsFile({ algorithms: [], contexts: [] });
    const server = await startServer(one, ['--log-level', 'warn'], {
      env: {
        SNAPSHOTS_ROOT: other,
        SNAPSHOTS_PORT: 'not a port',
        SNAPSHOTS_CONTEXTS: file,
        SNAPSHOTS_TOKEN: 'open-sesame',
        SNAPSHOTS_LOG_LEVEL: 'debug',
      },
    });
    expect(fs.readdirSync(one).sort()).toEqual(['snapshots', 'staging']);
    expect(fs.readdirSync(other)).toEqual([]);
    expect((await ask(server.url, '/contexts')).status).toBe(401);
    const headers = { authorization: 'Bearer open-sesame' };
    expect(jsonOf(await ask(server.url, '/contexts', { headers }))).toEqual({ algorithms: [], contexts: [] });
    expect((await server.stop()).stderr).toBe('');
  });

  test('have their defaults in the current directory', async () => {
    const cwd = temporaryRoot();
    const end = await runCommand(['serve', '--socket', join(cwd, 'missing', 'socket')], { cwd });
    expectOneLine(end, /cannot listen .*its folder does not exist/u);
    expect(fs.readdirSync(join(cwd, 'data')).sort()).toEqual(['snapshots', 'staging']);
  });

  test('name a socket that has room for its path', async () => {
    const cwd = temporaryRoot();
    const end = await runCommand(['serve', '--socket', join(cwd, 'x'.repeat(108))], { cwd });
    expectOneLine(end, /longer than the 10[37] bytes .*choose a shorter one with --socket/u);
  });

  test('that cannot be used are one line that names every one of them', async () => {
    const env = { SNAPSHOTS_PORT: '65536', SNAPSHOTS_VERIFY: 'never' };
    const end = await runCommand(['serve', '--root', temporaryRoot()], { cwd: temporaryRoot(), env });
    expectOneLine(end, /SNAPSHOTS_PORT: [^;]*"65536"; SNAPSHOTS_VERIFY: .*"never"/u);
  });

  test('from the environment are named as given', async () => {
    const end = await runCommand(['serve'], {
      cwd: temporaryRoot(),
      env: { SNAPSHOTS_PORT: 'x', SNAPSHOTS_VERIFY: 'y' },
    });
    expectOneLine(end, /SNAPSHOTS_PORT.*SNAPSHOTS_VERIFY/u);
  });

  test('that open the door to strangers are refused', async () => {
    expectOneLine(await serve('--root', temporaryRoot(), '--host', '0.0.0.0'), /SNAPSHOTS_TOKEN/u);
  });
});

test('an address of another machine is one line and exit 1', async () => {
  const end = await serve('--root', temporaryRoot(), '--host', '192.0.2.1', '--allow-anonymous');
  expectOneLine(end, /EADDRNOTAVAIL\): that is no address of this machine/u);
});

describe('a wrong command line is answered with a hint and exit 2:', () => {
  test.each([
    [['serve', '--prot', '0'], /--port/u],
    [['serve', '--root'], /argument missing/u],
    [['serve', '--port', 'abc'], /^pipewhy-snapshots: --port: expected a whole number .*"abc"$/mu],
    [['serve', '--verify', 'maybe'], /--verify: expected always or once/u],
    [['serve', '--idle-seconds', '0'], /--idle-seconds: expected at least 1/u],
    [['serve', 'now'], /too many arguments/u],
    [['sevre'], /serve/u],
    [['--nonsense'], /--help/u],
  ])('%j', async (args, hint) => {
    const { status, stdout, stderr } = await runCommand(args, { cwd: temporaryRoot() });
    expect(status).toBe(2);
    expect(stderr).toMatch(hint);
    expect(stderr).toContain('--help');
    expect(stderr).not.toMatch(/\n\s+at /u);
    expect(stdout).toBe('');
  });

  test('help is no error', async () => {
    for (const args of [['--help'], ['serve', '--help']]) {
      const { status, stdout, stderr } = await runCommand(args);
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain('serve');
    }
  });
});
