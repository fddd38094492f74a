/** Tokens and certificates from files: as they are at the start, and as they are when SIGHUP has them read again. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { get } from 'node:https';
import net from 'node:net';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { expect, it } from 'vitest';

import { runCommand, startServer } from '../support/service.ts';
import { temporaryRoot } from '../support/stores.ts';
import { eventually } from '../support/wire.ts';

function makeCertificate(folder: string, name: string): void {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-subj', `/CN=${name}`, ...files], { stdio: 'ignore' });
}

function askSecurely(url: string, path: string, token: string): Promise<{ status?: number; name: string }> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/html' };
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers, rejectUnauthorized: false, agent: false }, (answer) => {
      const { subject } = (
        answer.socket as unknown as { getPeerCertificate(): PeerCertificate }
      ).getPeerCertificate();
      resolve({ status: answer.resume().statusCode!, name: String(subject.CN) });
    }).on('error', reject);
  });
}

it('a service speaks TLS and takes new files at SIGHUP; broken ones leave all as it was; it stops around half a handshake', async () => {
  const folder = temporaryRoot();
  makeCertificate(folder, 'first');
  fs.writeFileSync(join(folder, 'tokens'), 'old\n');
  const server = await startServer(temporaryRoot(), [
    ...['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')],
    ...['--token-file', join(folder, 'tokens'), '--read-token', 'one', '--read-token', 'other'],
  ]);
  const { url, output, pid } = server;
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/u);
  expect(await askSecurely(url, '/snapshots', 'old')).toEqual({ status: 200, name: 'first' });
  expect((await askSecurely(url, '/snapshots', 'other')).status).toBe(200);
  expect((await askSecurely(url, '/snapshots', 'new')).status).toBe(401);

  makeCertificate(folder, 'second');
  fs.writeFileSync(join(folder, 'tokens'), 'new\n');
  process.kill(pid, 'SIGHUP');
  await eventually('read again', () => output.stderr.includes('were read again'));
  expect(await askSecurely(url, '/snapshots', 'new')).toEqual({ status: 200, name: 'second' });
  expect((await askSecurely(url, '/snapshots', 'old')).status).toBe(401);

  fs.writeFileSync(join(folder, 'key.pem'), 'no key');
  fs.writeFileSync(join(folder, 'tokens'), 'newest\n');
  process.kill(pid, 'SIGHUP');
  await eventually('it is told', () => output.stderr.includes('what was in force stays in force'));
  expect(await askSecurely(url, '/snapshots', 'new')).toEqual({ status: 200, name: 'second' });

  // Plain HTTP at this port is no TLS: its connection ends, and only that.
  const plain = net.connect(Number(new URL(url).port), '127.0.0.1');
  plain.on('error', () => undefined).end('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await new Promise((resolve) => plain.resume().once('close', resolve));
  const silent = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  const idle = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false });
  await new Promise((resolve) => idle.on('error', () => undefined).once('secureConnect', resolve));
  expect((await askSecurely(url, '/healthz', '')).status).toBe(200);
  expect(await server.stop()).toMatchObject({ status: 0, signal: null });
  silent.destroy();
  idle.destroy();
});

it('a file of tokens or a certificate that cannot be used is one line that names it, never its content', async () => {
  const folder = temporaryRoot();
  const tokens = join(folder, 'tokens');
  fs.writeFileSync(tokens, 'fine\nnot fine\n');
  fs.writeFileSync(join(folder, 'empty'), '\n');
  const cases: readonly (readonly [string[], RegExp])[] = [
    [['--token-file', tokens], /--token-file \(SNAPSHOTS_TOKEN_FILE\) .*tokens: line 2 is no token/u],
    [['--read-token-file', join(folder, 'empty')], /there is no token in it/u],
    [['--tls-cert', tokens, '--tls-key', tokens], /cannot be used .*PEM/u],
  ];
  for (const [flags, sentence] of cases) {
    const { status, stderr } = await runCommand(['serve', '--root', folder, '--port', '0', ...flags]);
    expect(stderr).toMatch(/^pipewhy-snapshots: [^\n]+\n$/u);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('not fine');
    expect(status).toBe(1);
  }
});
