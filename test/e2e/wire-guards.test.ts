/** Who may come in: checked on every route before a byte of a body is read or a directory is made. */
import fs from 'node:fs';
import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { inertJson, inertText } from '../../src/contract/text.ts';
import { problemOf, jsonOf } from '../support/http.ts';
import { appForTest, runCommand, startApp, type RunningApp } from '../support/service.ts';
import { idOf, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, MULTIPART, publish } from '../support/uploads.ts';
import { activeCharactersIn, exchange, head, Wire } from '../support/wire.ts';

const SECURITY = [
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'cross-origin-resource-policy',
  'content-security-policy',
];

const ID = idOf(1);

/** Every route, and what is none. */
const TARGETS: readonly (readonly [method: string, target: string])[] = [
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/metrics'],
  ['GET', '/snapshots'],
  ['HEAD', '/snapshots'],
  ['GET', `/snapshots/${ID}`],
  ['GET', `/snapshots/${ID}/manifest.json`],
  ['GET', `/snapshots/${ID}/complete.sha256`],
  ['GET', `/snapshots/${ID}/array-ids.bin`],
  ['GET', '/incomplete'],
  ['GET', '/contexts'],
  ['OPTIONS', '/snapshots'],
  ['DELETE', `/snapshots/${ID}`],
  ['PROPFIND', '/snapshots'],
  ['GET', '/nothing'],
  ['GET', '/%zz'],
  ['GET', `/snapshots/${'x'.repeat(300)}`],
  ['GET', '/snapshots?limit=%ff'],
  ['OPTIONS', '*'],
  ['POST', '/snapshots'],
];

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
  expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
});
afterAll(() => running.close());

describe('the Host', () => {
  const port = (): string => new URL(running.url).port;

  it.each([
    ['its name', () => ['Host: localhost']],
    ['with its port', () => [`Host: 127.0.0.1:${port()}`]],
    ['with another port, as a forwarded one has', () => ['Host: localhost:9999']],
    ['in capitals', () => ['HOST: LOCALHOST']],
    ['as IPv6', () => [`Host: [::1]:${port()}`]],
    ['as IPv6 in full', () => ['Host: [0:0:0:0:0:0:0:1]']],
    ['as an IPv4 address in IPv6', () => ['Host: [::ffff:127.0.0.1]']],
    ['as another address of loopback', () => ['Host: 127.255.0.9:80']],
    ['with the dot that ends a full name', () => ['Host: localhost.']],
  ])('is accepted %s', async (_what, lines) => {
    expect((await exchange(running.url, head('GET', '/snapshots', lines())))?.status).toBe(200);
  });

  it.each([
    ['another name', ['Host: evil.example']],
    ['another name on our port', ['Host: evil.example:8750']],
    ['a name that ends like ours', ['Host: notlocalhost']],
    ['a name that begins like ours', ['Host: localhost.evil.example']],
    ['a name with two dots behind it', ['Host: localhost..']],
    ['a name that begins like loopback', ['Host: 127.evil.example']],
    ['another address in IPv6', ['Host: [::ffff:169.254.169.254]']],
    ['a user before it', ['Host: evil@localhost']],
    ['two in one', ['Host: localhost, evil.example']],
    ['two headers, ours first', ['Host: localhost', 'Host: evil.example']],
    ['two headers, ours last', ['Host: evil.example', 'Host: localhost']],
    ['twice ours', ['Host: localhost', 'Host: localhost']],
    ['an empty one', ['Host: ']],
    ['another address', ['Host: 169.254.169.254']],
    ['a decimal address', ['Host: 2130706433']],
    ['another IPv6 address', ['Host: [::2]']],
    ['full-width letters', ['Host: \xef\xbd\x8c\xef\xbd\x8f']],
  ])('is refused as %s, on every route and on none, but for the probes', async (_what, lines) => {
    for (const [method, target] of TARGETS) {
      const answer = await exchange(running.url, head(method, target, [...lines, 'Content-Length: 0']));
      const isProbe = /^[/](healthz|readyz)$/u.test(target);
      expect(answer?.status, `${method} ${target}`).toBe(isProbe ? 200 : 403);
      if (method !== 'HEAD' && !isProbe) {
        expect(jsonOf(answer!).code, `${method} ${target}`).toBe('forbidden_host');
      }
    }
  });

  it('is refused when it is missing, in HTTP/1.1 and in HTTP/1.0', async () => {
    for (const version of ['1.0', '1.1']) {
      const answer = await exchange(running.url, `GET /snapshots HTTP/${version}\r\n\r\n`);
      problemOf(answer!, 'forbidden_host');
    }
  });

  it('may be missing for the probes, also in HTTP/1.0', async () => {
    for (const version of ['1.0', '1.1']) {
      for (const target of ['/healthz', '/readyz']) {
        const answer = await exchange(running.url, `GET ${target} HTTP/${version}\r\n\r\n`);
        expect(answer?.status, `${target} ${version}`).toBe(200);
      }
    }
  });

  it('may be the address at which the connection arrived, once a token is asked for', async () => {
    // The wildcard is no name of its own, and this machine's other addresses are none without a token.
    const address = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    for (const settings of [{ token: 'right' }, { allowAnonymous: true }]) {
      const { url } = await appForTest({ settings: { host: '::', ...settings } });
      const at = new URL(url).port;
      const statusFor = async (to: string, host: string): Promise<number | undefined> =>
        new Promise((resolve, reject) => {
          const headers = { host, authorization: 'Bearer right' };
          get({ host: to, port: at, path: '/contexts', headers, agent: false }, (answer) => {
            resolve(answer.resume().statusCode);
          }).on('error', reject);
        });
      if (address !== undefined) {
        const own = 'token' in settings ? 200 : 403;
        expect(await statusFor(address, address)).toBe(own);
        expect(await statusFor(address, `${address}:${at}`)).toBe(own);
        // Another connection's address is none of this one's names.
        expect(await statusFor('127.0.0.1', address)).toBe(403);
      }
      expect(await statusFor('127.0.0.1', 'evil.example')).toBe(403);
    }
  });

  it('is not hidden by a whole URL as the target', async () => {
    const foreign = await exchange(
      running.url,
      head('GET', 'http://evil.example/snapshots', ['Host: localhost']),
    );
    problemOf(foreign!, 'forbidden_host');
    const hidden = await exchange(
      running.url,
      head('GET', 'http://localhost/snapshots', ['Host: evil.example']),
    );
    problemOf(hidden!, 'forbidden_host');
    const own = await exchange(running.url, head('GET', 'http://localhost/snapshots', ['Host: localhost']));
    expect(own?.status).toBe(200);
  });

  it('can be allowed by name', async () => {
    const { url } = await appForTest({ settings: { allowedHosts: 'Snapshots.example' } });
    expect((await exchange(url, head('GET', '/snapshots', ['Host: snapshots.example:80'])))?.status).toBe(
      200,
    );
    expect((await exchange(url, head('GET', '/snapshots', ['Host: other.example'])))?.status).toBe(403);
  });
});

describe('requests of other sites', () => {
  it.each([
    ['another origin', ['Origin: http://evil.example']],
    ['no origin of its own', ['Origin: null']],
    ['our name on another port', ['Origin: http://localhost:1']],
    ['our name with more behind it', ['Origin: http://localhost.evil.example']],
    ['an origin that is none', ['Origin: localhost']],
    ['a cross-site fetch', ['Sec-Fetch-Site: cross-site']],
    ['a fetch from the same site', ['Sec-Fetch-Site: same-site']],
    ['an unknown relation', ['Sec-Fetch-Site: other']],
    [
      'a cross-site image',
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'],
    ],
    [
      'a cross-site frame',
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'],
    ],
  ])('are refused with %s, on every route and on none, without CORS headers', async (_what, lines) => {
    for (const [method, target] of TARGETS) {
      const answer = await exchange(running.url, head(method, target, [...lines, 'Content-Length: 0']));
      expect(answer?.status, `${method} ${target}`).toBe(403);
      expect(Object.keys(answer!.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      if (method !== 'HEAD') expect(jsonOf(answer!).code).toBe('forbidden_origin');
    }
  });

  it('pass when they are our own, or a person opens a page', async () => {
    for (const lines of [
      ['Host: localhost:8750', 'Origin: http://localhost:8750'],
      ['Sec-Fetch-Site: same-origin'],
      ['Sec-Fetch-Site: none'],
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'],
    ]) {
      expect((await exchange(running.url, head('GET', '/snapshots', lines)))?.status, lines.join()).toBe(200);
    }
  });

  it('cannot publish by a form that a person was led to', async () => {
    const lines = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
    const answer = await exchange(
      running.url,
      head('POST', '/snapshots', [...lines, `Content-Type: ${MULTIPART}`, 'Content-Length: 0']),
    );
    problemOf(answer!, 'forbidden_origin');
  });

  it('get no CORS headers from anything, asked nicely or not', async () => {
    for (const [method, target] of TARGETS) {
      const lines = [
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: x',
        'Content-Length: 0',
      ];
      const answer = await exchange(running.url, head(method, target, lines));
      const names = Object.keys(answer!.headers).filter((name) => name.startsWith('access-control'));
      expect(names, `${method} ${target}`).toEqual([]);
    }
  });
});

describe('before any of the body', () => {
  it.each([
    ['a wrong host', ['Host: evil.example'], 403],
    ['another origin', ['Origin: null'], 403],
    ['no token', [], 401],
  ])('a refusal for %s is there and nothing was made', async (_what, lines, status) => {
    const root = temporaryRoot();
    const { url } = await appForTest({ root, settings: { token: 'right' } });
    const before = fs.readdirSync(join(root, 'staging'));
    const wire = await Wire.open(url);
    await wire.send(
      head('POST', '/snapshots', [
        ...lines,
        `Content-Type: ${MULTIPART}`,
        'Content-Length: 1000000',
        'Expect: 100-continue',
      ]),
    );
    expect((await wire.answer())?.status).toBe(status);
    expect(await wire.closed()).toBe(true);
    wire.destroy();
    expect(fs.readdirSync(join(root, 'staging'))).toEqual(before);
  });
});

describe('the token', () => {
  it('is needed everywhere but for the two probes, whatever the scheme, and never shown', async () => {
    const { url, logs } = await appForTest({ settings: { token: 'open sesame'.replace(' ', '-') } });
    for (const [method, target] of TARGETS) {
      const probe = target === '/healthz' || target === '/readyz';
      for (const authorization of [
        undefined,
        'Bearer wrong',
        'Bearer open-sesam',
        'Bearer open-sesame2',
        'Bearer',
        'Bearer  ',
        'Basic b3Blbi1zZXNhbWU=',
        'open-sesame',
        'Bearer open-sesame extra',
      ]) {
        const lines = authorization === undefined ? [] : [`Authorization: ${authorization}`];
        const answer = await exchange(url, head(method, target, [...lines, 'Content-Length: 0']));
        expect(answer?.status, `${method} ${target} ${authorization}`).toBe(probe ? 200 : 401);
        if (!probe) expect(answer!.headers['www-authenticate']).toMatch(/^Bearer /u);
        expect(answer!.body.toString()).not.toContain('sesame');
      }
    }
    const right = head('GET', '/snapshots', ['Authorization: bearer open-sesame']);
    expect((await exchange(url, right))?.status).toBe(200);
    expect(JSON.stringify(logs)).not.toContain('sesame');
  });

  it('that only reads reads everything and publishes nothing; of several each is good', async () => {
    const folder = temporaryRoot();
    fs.writeFileSync(join(folder, 'publish'), 'from-file\r\n\nsecond-in-file');
    fs.writeFileSync(join(folder, 'read'), 'read-from-file\n');
    const { url } = await appForTest({
      settings: {
        token: ['one', 'two\n'],
        readToken: 'reader',
        tokenFile: join(folder, 'publish'),
        readTokenFile: [join(folder, 'read')],
      },
    });
    const statusOf = async (method: string, target: string, token: string): Promise<number | undefined> =>
      (await exchange(url, head(method, target, [`Authorization: Bearer ${token}`, 'Content-Length: 0'])))
        ?.status;
    for (const token of ['one', 'two', 'from-file', 'second-in-file']) {
      expect(await statusOf('GET', '/snapshots', token), token).toBe(200);
      expect(await statusOf('POST', '/snapshots', token), token).toBe(415);
    }
    for (const token of ['reader', 'read-from-file']) {
      expect(await statusOf('GET', '/snapshots', token), token).toBe(200);
      expect(await statusOf('HEAD', '/contexts', token), token).toBe(200);
      expect(await statusOf('POST', '/snapshots', token), token).toBe(401);
    }
    expect(await statusOf('GET', '/snapshots', '')).toBe(401);
  });

  it('is not needed for the page that it is entered in, nor for its files', async () => {
    const { url } = await appForTest({ settings: { readToken: 'reader', basePath: '/at' } });
    const page = await exchange(url, head('GET', '/at/docs'));
    expect(page?.status).toBe(200);
    const files = [...page!.body.toString().matchAll(/(?:src|href)="([^"]*static[^"]+)"/gu)];
    expect(files.length).toBeGreaterThan(2);
    for (const file of [...files.map(([, path]) => path!), '/at/docs/json']) {
      const target = new URL(file, 'http://host/at/docs').pathname;
      expect((await exchange(url, head('GET', target)))?.status, target).toBe(200);
    }
    for (const target of ['/at/docs/nothing', '/at/docsnapshots', '/at/snapshots', '/at/docs/../snapshots']) {
      expect((await exchange(url, head('GET', target)))?.status, target).toBe(401);
    }
  });

  it('or an override is needed to listen where others can reach it', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
      const end = await runCommand(['serve', '--root', temporaryRoot(), '--port', '0', '--host', host]);
      expect(end.status, host).toBe(1);
      expect(end.stderr.trim().split('\n')).toHaveLength(1);
      expect(end.stderr).toContain('SNAPSHOTS_TOKEN');
    }
  });
});

describe('every answer', () => {
  it('has the security headers, also for what is no HTTP', async () => {
    const requests = [
      ...TARGETS.map(([method, target]) => head(method, target, ['Content-Length: 0'])),
      'NONSENSE\r\n\r\n',
      head('GET', '/', ['Content-Length: 1', 'Content-Length: 2']),
      head('GET', '/', [`X: ${'x'.repeat(20_000)}`]),
      head('GET', '/snapshots', ['Expect: tea']),
    ];
    for (const request of requests) {
      const answer = await exchange(running.url, request);
      expect(answer, request.slice(0, 60)).toBeDefined();
      for (const name of SECURITY) expect(answer!.headers, request.slice(0, 60)).toHaveProperty(name);
    }
  });

  it('to what is no HTTP is a problem document and the last on its connection', async () => {
    const cases: readonly (readonly [string, number])[] = [
      ['NONSENSE\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 400],
      [head('GET', '/', ['Content-Length: 1', 'Content-Length: 2']), 400],
      [head('POST', '/snapshots', ['Content-Length: 4', 'Transfer-Encoding: chunked']) + '0\r\n\r\n', 400],
      [head('POST', '/snapshots', ['Transfer-Encoding: chunked, gzip']), 415],
      [head('POST', '/snapshots', ['Transfer-Encoding: identity']), 415],
      [head('POST', '/snapshots', ['Transfer-Encoding : chunked']), 400],
      [head('POST', '/snapshots', ['Content-Length: +4']), 400],
      [head('POST', '/snapshots', ['Content-Length: 0x4']), 400],
      [head('GET', '/', ['A\x00: b']), 400],
      [head('GET', '/', ['A: b\x00c']), 400],
      [head('GET', '/a b'), 400],
      [head('GET', '/', [' folded: yes']), 400],
      [head('GET', '/', [`X: ${'x'.repeat(20_000)}`]), 431],
      [head('GET', `/${'x'.repeat(20_000)}`), 431],
    ];
    for (const [bytes, status] of cases) {
      const wire = await Wire.open(running.url);
      await wire.send(bytes);
      const answer = await wire.answer();
      // A body whose transfer coding nobody knows is refused by the guard, or by the parser if that is first.
      const statuses = status === 415 ? [400, 415] : [status];
      expect(statuses, bytes.slice(0, 60)).toContain(answer?.status);
      expect(answer!.headers['content-type']).toBe('application/problem+json');
      expect(jsonOf(answer!)).toMatchObject({
        status: answer!.status,
        code: expect.any(String),
        detail: expect.any(String),
      });
      expect(await wire.closed(), bytes.slice(0, 60)).toBe(true);
      expect(wire.received.length, 'nothing after it').toBe(0);
      wire.destroy();
    }
  });

  it('never has bytes of another in it: nonsense behind a request is refused after the download', async () => {
    const { url } = await appForTest();
    const bytes = Buffer.alloc(24 * 1024 * 1024, 7);
    expect((await publish(url, idOf(2), { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(head('GET', `/snapshots/${idOf(2)}/array-big.bin`));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await wire.send('NONSENSE\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 300));
    wire.socket.resume();
    const download = await wire.answer(10_000);
    expect(download?.body.equals(bytes)).toBe(true);
    expect((await wire.answer())?.status).toBe(400);
    expect(await wire.closed()).toBe(true);
    wire.destroy();
  });
});

describe('foreign text', () => {
  const HOSTILE = '\u001b[31mred\u009b31m\u2028line\u2029par\u202eevil\u0007\r\n{"level":60}';

  it('stays escaped in a log line, which stays one line of the same JSON', () => {
    const record = { text: HOSTILE, slash: '\\u001b', quote: '"', path: 'C:\\bin\\u0041' };
    const line = inertJson(JSON.stringify(record));
    expect(JSON.parse(line)).toEqual(record);
    expect(line).toMatch(/^[\x20-\x7e]*$/u);
  });

  it('is shown, not acted upon, by what prints strings as they are', () => {
    const line = inertText(JSON.stringify({ text: HOSTILE, slash: '\\u001b' }));
    const printed = JSON.parse(line) as { text: string; slash: string };
    expect(printed.text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]*$/u);
    expect(printed.text).toContain('\\u001b[31mred');
    expect(printed.slash).toBe('\\u001b');
  });

  it.each([
    '%2e%2e',
    '..%2f..%2fetc%2fpasswd',
    '%00',
    `${ID}%0a`,
    `${ID}%00`,
    `${ID}0`,
    ID.toUpperCase().replace('1', 'A'),
    '%EF%BC%91'.repeat(32),
    'con',
    'nul.bin',
    '%1b%5b31m',
    '%e2%80%a8',
    '%c2%9b31m',
  ])('as an id (%s) never reaches the disk and comes back escaped', async (id) => {
    for (const target of [`/snapshots/${id}`, `/snapshots/${id}/array-ids.bin`, `/snapshots/${ID}/${id}`]) {
      const answer = await exchange(running.url, head('GET', target));
      expect([400, 404], target).toContain(answer?.status);
      const text = answer!.body.toString('utf8');
      expect(activeCharactersIn(text), target).toEqual([]);
      expect(text, target).not.toMatch(/\/tmp|node_modules|\bat /u);
    }
  });
});

describe('codings', () => {
  it('of the content are refused where a body is meant, with or without one', async () => {
    for (const coding of ['gzip', 'identity', 'br, gzip', '']) {
      const lines = [`Content-Encoding: ${coding}`, `Content-Type: ${MULTIPART}`, 'Content-Length: 0'];
      problemOf((await exchange(running.url, head('POST', '/snapshots', lines)))!, 'unsupported_media_type');
    }
  });

  it('of the transfer are refused but for chunked', async () => {
    const lines = ['Transfer-Encoding: gzip, chunked', `Content-Type: ${MULTIPART}`];
    const answer = await exchange(running.url, head('POST', '/snapshots', lines) + '0\r\n\r\n');
    problemOf(answer!, 'unsupported_media_type');
  });
});
