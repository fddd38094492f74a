/** Several processes over one root behind one address: to clients and operators one service, whatever becomes of one of them. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { halfAnUpload } from '../support/half-upload.ts';
import { ask, jsonOf, problemOf } from '../support/http.ts';
import { runCommand, startServer, type RunningServer } from '../support/service.ts';
import { attemptsOf, idOf, packagePath, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';
import { eventually, head, Wire } from '../support/wire.ts';

function childrenOf(pid: number): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return listed.split(' ').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  return fs.existsSync(`/proc/${pid}/exe`);
}

function start(root: string, ...flags: string[]): Promise<RunningServer> {
  return startServer(root, ['--reserve-bytes', '0', '--processes', '2', ...flags]);
}

async function figure(url: string, name: string): Promise<number> {
  const text = (await ask(url, '/metrics')).body.toString();
  const lines = text.split('\n').filter((line) => line.startsWith(`pipewhy_snapshots_${name}`));
  expect(lines, `${name} is told once`).toHaveLength(1);
  return Number(lines[0]!.split(' ').at(-1));
}

function halves(root: string, url: string, count: number) {
  return Array.from({ length: count }, (_, index) => index + 1).reduce<
    Promise<Awaited<ReturnType<typeof halfAnUpload>>[]>
  >(
    async (before, number) => [...(await before), await halfAnUpload(root, url, idOf(number))],
    Promise.resolve([]),
  );
}

it('says its address once all processes serve; each takes connections, and their counts are summed', async () => {
  const root = temporaryRoot();
  const { url, pid, output, stop } = await start(root, '--log-level', 'debug');
  expect(childrenOf(pid)).toHaveLength(2);
  expect(output.stdout).toBe(`pipewhy-snapshots is serving ${root} at ${url}\n`);
  expect((await publish(url, idOf(1), EXAMPLE_ARRAYS)).status).toBe(201);
  const open = await Promise.all(Array.from({ length: 6 }, () => Wire.open(url)));
  for (const wire of open) {
    await wire.send(head('GET', '/healthz'));
    expect((await wire.answer())?.status).toBe(200);
  }
  // Whichever is asked: with six connections open, these go to both in turn.
  for (let round = 0; round < 4; round += 1) {
    expect(await figure(url, 'requests_total{method="GET",route="/healthz"')).toBe(6);
    expect(await figure(url, 'publications_total{outcome="published"}')).toBe(1);
    expect(await figure(url, 'snapshots ')).toBe(1);
    expect(await figure(url, 'processes ')).toBe(2);
  }
  const served = output.stderr.split('\n').filter((line) => line.includes('/healthz'));
  expect(new Set(served.map((line) => JSON.parse(line).process))).toEqual(new Set([1, 2]));
  expect(await stop()).toMatchObject({ status: 0, signal: null });
  for (const wire of open) expect(await wire.closed()).toBe(true);
});

it('one that dies takes its own requests with it and no other, keeps its counts, and is replaced', async () => {
  const root = temporaryRoot();
  const { url, pid, output, stop } = await start(root);
  expect((await publish(url, idOf(100), EXAMPLE_ARRAYS)).status).toBe(201);
  expect((await publish(url, idOf(101), EXAMPLE_ARRAYS)).status).toBe(201);
  expect(await figure(url, 'publications_total{outcome="published"}')).toBe(2);
  const uploads = await halves(root, url, 6);
  const [victim, other] = childrenOf(pid) as [number, number];
  process.kill(victim, 'SIGKILL');
  await eventually('its connections end', () => uploads.filter(({ wire }) => wire.ended).length === 3);
  const answers = await Promise.all(
    uploads
      .filter(({ wire }) => !wire.ended)
      .map(async ({ wire, rest }) => {
        await wire.send(rest);
        return (await wire.answer())?.status;
      }),
  );
  expect(answers).toEqual([201, 201, 201]);
  expect(attemptsOf(root)).toHaveLength(3);
  await eventually('another takes its place', () => output.stderr.includes('"replaced":'), 15_000);
  expect(childrenOf(pid)).toHaveLength(2);
  expect(childrenOf(pid)).toContain(other);
  expect(await figure(url, 'publications_total{outcome="published"}')).toBe(5);
  expect(await figure(url, 'processes ')).toBe(2);
  expect(await figure(url, 'processes_lost_total')).toBe(1);
  expect(await stop()).toMatchObject({ status: 0, signal: null });
});

it('when all die at once, connections wait at the same address until one serves again', async () => {
  const { url, pid, stop } = await start(temporaryRoot());
  for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL');
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(url, '/readyz')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await stop()).toMatchObject({ status: 0 });
});

it('a process that takes the place of another sees the directories of the start, not those of its own', async () => {
  const root = temporaryRoot();
  const { url, pid, output } = await start(root);
  expect((await publish(url, idOf(1), EXAMPLE_ARRAYS)).status).toBe(201);
  fs.renameSync(join(root, 'snapshots'), join(root, 'away'));
  fs.mkdirSync(join(root, 'snapshots'));
  for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL');
  problemOf(await ask(url, '/snapshots'), 'unavailable');
  problemOf(await publish(url, idOf(1), EXAMPLE_ARRAYS), 'unavailable');
  fs.rmdirSync(join(root, 'snapshots'));
  fs.renameSync(join(root, 'away'), join(root, 'snapshots'));
  expect(jsonOf(await ask(url, '/snapshots')).snapshots).toHaveLength(1);
  expect(output.stderr).toContain('"lost":1');
});

it('the limit of uploads holds for all together, wherever they run, and dead ones give theirs back', async () => {
  const root = temporaryRoot();
  const { url, pid, output } = await start(root, '--max-uploads', '3', '--grace-seconds', '1');
  const first = await halves(root, url, 3);
  problemOf(await publish(url, idOf(50), EXAMPLE_ARRAYS), 'unavailable');
  problemOf(await publish(url, idOf(50), EXAMPLE_ARRAYS), 'unavailable');
  expect(await figure(url, 'uploads_in_flight')).toBe(3);
  for (const { wire, rest } of first) {
    await wire.send(rest);
    expect((await wire.answer())?.status).toBe(201);
  }
  // What one process does not use any more, the other may: these three are on one.
  for (const { wire } of first) wire.destroy();
  const ids = [11, 12, 13].map(idOf);
  const again = [];
  for (const id of ids) again.push(await halfAnUpload(root, url, id));
  problemOf(await publish(url, idOf(50), EXAMPLE_ARRAYS), 'unavailable');
  for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL');
  await eventually('both are replaced', () => output.stderr.split('"replaced":').length === 3, 20_000);
  for (const number of [21, 22, 23]) await halfAnUpload(root, url, idOf(number));
  problemOf(await publish(url, idOf(50), EXAMPLE_ARRAYS), 'unavailable');
});

describe('stopping', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s lets uploads end in every process', async (signal) => {
    const root = temporaryRoot();
    const { url, output, stop } = await start(root);
    const uploads = await halves(root, url, 4);
    const ended = stop(signal);
    await eventually('each is told', () => output.stderr.split(`${signal}: stopping`).length === 4);
    await expect(ask(url, '/healthz')).rejects.toThrow();
    for (const { wire, rest } of uploads) {
      await wire.send(rest);
      expect((await wire.answer())?.status).toBe(201);
    }
    expect(await ended).toMatchObject({ status: 0, signal: null });
  });

  it('cuts what runs after the grace, and says so by its status', async () => {
    const root = temporaryRoot();
    const { url, stop } = await start(root, '--grace-seconds', '1');
    const uploads = await halves(root, url, 2);
    expect(await stop()).toMatchObject({ status: 1, signal: null });
    for (const { wire } of uploads) expect(await wire.closed()).toBe(true);
    expect(attemptsOf(root)).toHaveLength(2);
  });

  it('a second signal ends all at once', async () => {
    const root = temporaryRoot();
    const { url, pid, output, stop } = await start(root);
    await halves(root, url, 2);
    const children = childrenOf(pid);
    const ended = stop('SIGTERM');
    await eventually('it is told', () => output.stderr.includes('SIGTERM: stopping'));
    process.kill(pid, 'SIGINT');
    expect(await ended).toMatchObject({ status: 1 });
    await eventually('none is left', () => !children.some(isAlive));
  });

  it('without the first process the others end by themselves, after what runs', async () => {
    const root = temporaryRoot();
    const { url, pid } = await start(root);
    const [upload] = await halves(root, url, 1);
    const children = childrenOf(pid);
    process.kill(pid, 'SIGKILL');
    await upload!.wire.send(upload!.rest);
    expect((await upload!.wire.answer())?.status).toBe(201);
    await eventually('none is left', () => !children.some(isAlive));
    expect(packagePath(root, idOf(1))).toSatisfy(fs.existsSync);
  });

  it('signals to a serving process alone mean nothing: the first one decides', async () => {
    const { url, pid, stop } = await start(temporaryRoot());
    for (const child of childrenOf(pid)) {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.kill(child, signal);
    }
    expect((await ask(url, '/readyz')).status).toBe(200);
    expect(childrenOf(pid)).toHaveLength(2);
    expect(await stop()).toMatchObject({ status: 0 });
  });
});

it('serves a unix socket, and takes it over from one that was killed', async () => {
  const root = temporaryRoot();
  const socket = join(root, 'here.sock');
  const first = await start(root, '--socket', socket);
  expect(first.url).toBe(`unix:${socket}`);
  const get = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      const wire = connect(socket).setEncoding('latin1').on('error', reject);
      wire
        .on('data', (piece: string) => (text += piece))
        .on('close', () => {
          resolve(text);
        });
      wire.write('GET /readyz HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
    });
  for (let round = 0; round < 4; round += 1) expect(await get()).toMatch(/^HTTP\/1\.1 200 /u);
  await first.stop('SIGKILL');
  const second = await start(root, '--socket', socket);
  expect(await get()).toMatch(/^HTTP\/1\.1 200 /u);
  expect(await second.stop()).toMatchObject({ status: 0 });
  expect(fs.existsSync(socket)).toBe(false);
});

it('at SIGHUP every process takes the tokens as their file is now, and one that comes later has them too', async () => {
  const folder = temporaryRoot();
  const file = join(folder, 'tokens');
  fs.writeFileSync(file, 'old\n');
  const { url, pid, output } = await start(temporaryRoot(), '--token-file', file);
  const statusWith = async (token: string): Promise<number> =>
    (await ask(url, '/contexts', { headers: { authorization: `Bearer ${token}` } })).status;
  // Connections stay open, so that further ones go to both in turn.
  const open = await Promise.all([Wire.open(url), Wire.open(url)]);
  expect(await Promise.all(['old', 'old', 'new', 'new'].map(statusWith))).toEqual([200, 200, 401, 401]);
  fs.writeFileSync(file, 'new\n');
  process.kill(pid, 'SIGHUP');
  await eventually('each has read', () => output.stderr.split('were read again').length === 3);
  const all = ['old', 'old', 'old', 'old', 'new', 'new', 'new', 'new'];
  expect(await Promise.all(all.map(statusWith))).toEqual([401, 401, 401, 401, 200, 200, 200, 200]);
  for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL');
  expect(await statusWith('new')).toBe(200);
  for (const wire of open) wire.destroy();
});

it('speaks TLS from every process', async () => {
  const folder = temporaryRoot();
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-subj', '/CN=localhost', ...files], { stdio: 'ignore' });
  const flags = ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')];
  const { url, stop } = await start(temporaryRoot(), ...flags);
  expect(url).toMatch(/^https:/u);
  for (let round = 0; round < 4; round += 1) {
    const shown = execFileSync('curl', ['-sk', `${url}/readyz`], { encoding: 'utf8' });
    expect(JSON.parse(shown)).toMatchObject({ status: 'ready' });
  }
  expect(await stop()).toMatchObject({ status: 0 });
});

describe('what cannot be used', () => {
  it.each([
    [['--root', '/dev/null'], 1, /^pipewhy-snapshots: [^\n]*\/dev\/null[^\n]*\n$/u],
    [['--root', '/dev/null/below'], 1, /^pipewhy-snapshots: [^\n]*\/dev\/null[^\n]*\n$/u],
    [['--contexts', '/dev/null/no'], 1, /^pipewhy-snapshots: [^\n]*declarations[^\n]*\n$/u],
    [['--host', '192.0.2.1', '--allow-anonymous'], 1, /^pipewhy-snapshots: cannot listen[^\n]*--host\n$/u],
    [['--processes', '0'], 2, /--processes: expected at least 1/u],
    [['--processes', 'some'], 2, /--processes: expected a number of processes, or auto/u],
  ])('%j is told in one line', async (flags, status, line) => {
    const root = temporaryRoot();
    const ended = await runCommand(['serve', '--processes', '2', '--port', '0', '--root', root, ...flags]);
    expect(ended.status).toBe(status);
    expect(ended.stderr).toMatch(line);
    expect(ended.stdout).toBe('');
  });
});

it('one process is one process: nothing is started beside it', async () => {
  const { pid, url } = await startServer(temporaryRoot());
  expect(childrenOf(pid)).toEqual([]);
  expect((await ask(url, '/metrics')).body.toString()).not.toContain('pipewhy_snapshots_processes');
});
