/** Requests of one connection are taken one after the other, and what one holds ends with its socket (RFC 9112, 9.3.2). */
import fs from 'node:fs';
import { join } from 'node:path';
import { METHODS } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { bodyOf } from '../http/multipart-support.ts';
import { jsonOf, problemOf } from '../support/http.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { idOf, metadataOf, packagePath } from '../support/stores.ts';
import { MULTIPART, publish } from '../support/uploads.ts';
import { descriptorsOf, eventually, exchange, head, Wire } from '../support/wire.ts';

const ARRAY = Buffer.from([1, 2, 3, 4]);

function uploadOf(id: string, parent: string | null = null): Buffer {
  const snapshot = { ...metadataOf(id), parent_id: parent };
  const body = bodyOf([
    { name: 'metadata', payload: JSON.stringify({ snapshot, arrays: { ids: { dtype: 'uint8' } } }) },
    { name: 'ids', payload: ARRAY },
  ]);
  const start = head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${body.length}`]);
  return Buffer.concat([Buffer.from(start), body]);
}

let running: RunningApp;
let next = 0;
let id: string;
beforeAll(async () => {
  running = await startApp();
});
afterAll(() => running.close());
beforeEach(() => {
  id = idOf((next += 10));
});

async function statusesOf(wire: Wire, count: number): Promise<(number | undefined)[]> {
  const statuses = [];
  for (let number = 0; number < count; number += 1) statuses.push((await wire.answer())?.status);
  return statuses;
}

describe('requests in one write', () => {
  it('see what those before them have done: a publication, then its snapshot', async () => {
    const wire = await Wire.open(running.url);
    await wire.send(Buffer.concat([uploadOf(id), Buffer.from(head('GET', `/snapshots/${id}`))]));
    expect(await statusesOf(wire, 2)).toEqual([201, 200]);
    wire.destroy();
  });

  it('see what those before them have done: a parent, then its child', async () => {
    const child = idOf(next + 1);
    const wire = await Wire.open(running.url);
    await wire.send(Buffer.concat([uploadOf(id), uploadOf(child, id)]));
    expect(await statusesOf(wire, 2)).toEqual([201, 201]);
    wire.destroy();
  });

  it('are all answered, in their order, however many one read brings', async () => {
    await publish(running.url, id, { ids: { dtype: 'uint8', bytes: ARRAY } });
    const paths = [...Array(600).keys()].map((number) =>
      number % 3 === 0 ? '/healthz' : number % 3 === 1 ? `/snapshots/${id}/array-ids.bin` : '/nowhere',
    );
    const wire = await Wire.open(running.url);
    await wire.send(paths.map((path) => head('GET', path)).join(''));
    const expected = paths.map((_, number) => [200, 200, 404][number % 3]);
    expect(await statusesOf(wire, 600)).toEqual(expected);
    wire.destroy();
  });

  it('are answered before what follows them and is no HTTP is refused', async () => {
    const wire = await Wire.open(running.url);
    await wire.send(`${head('GET', '/healthz').repeat(3)}NONSENSE\r\n\r\n`);
    expect(await statusesOf(wire, 4)).toEqual([200, 200, 200, 400]);
    expect(await wire.closed()).toBe(true);
    wire.destroy();
  });

  it('wait for 100-continue in their turn', async () => {
    const whole = uploadOf(id).toString('latin1');
    const cut = whole.indexOf('\r\n\r\n');
    const wire = await Wire.open(running.url);
    const asking = `${whole.slice(0, cut)}\r\nExpect: 100-continue\r\n\r\n`;
    await wire.send(head('GET', '/healthz') + asking);
    expect(await statusesOf(wire, 2)).toEqual([200, 100]);
    await wire.send(whole.slice(cut + 4));
    expect((await wire.answer())?.status).toBe(201);
    wire.destroy();
  });

  it('never run beside each other: one at a time reads the store', async () => {
    let reading = 0;
    let most = 0;
    const { url, store } = await appForTest();
    await publish(url, id, { ids: { dtype: 'uint8', bytes: ARRAY } });
    const readManifest = store.readManifest.bind(store);
    store.readManifest = async (...given) => {
      most = Math.max(most, (reading += 1));
      try {
        return await readManifest(...given);
      } finally {
        reading -= 1;
      }
    };
    const wire = await Wire.open(url);
    await wire.send(head('GET', `/snapshots/${id}`).repeat(50));
    expect(new Set(await statusesOf(wire, 50))).toEqual(new Set([200]));
    expect(most).toBe(1);
    wire.destroy();
  });
});

describe('a client that leaves', () => {
  it('takes no descriptor with it, whatever it had asked for and not read', async () => {
    const { url, root, app } = await appForTest();
    const bytes = Buffer.alloc(6 * 1024 * 1024, 7);
    expect((await publish(url, id, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const before = descriptorsOf(process.pid);
    for (let round = 0; round < 3; round += 1) {
      const wire = await Wire.open(url);
      wire.socket.pause();
      await wire.send(head('GET', `/snapshots/${id}/array-big.bin`).repeat(200));
      await eventually('a download runs', () => app.transfers.downloads > 0);
      expect(app.transfers.downloads, 'one at a time').toBe(1);
      wire.destroy();
      await eventually('it has ended', () => app.transfers.downloads === 0 && app.connections.size === 0);
    }
    await eventually('its descriptors are given back', () => descriptorsOf(process.pid) <= before);
    expect(app.transfers.downloadBytes).toBe(0);
    expect(fs.existsSync(join(root, 'snapshots', id))).toBe(true);
  });

  it('before its turn has nothing done for it any more', async () => {
    const { url, root } = await appForTest();
    const bytes = Buffer.alloc(6 * 1024 * 1024, 7);
    await publish(url, id, { big: { dtype: 'uint8', bytes } });
    const later = idOf(next + 1);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(
      Buffer.concat([Buffer.from(head('GET', `/snapshots/${id}/array-big.bin`).repeat(2)), uploadOf(later)]),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    wire.destroy();
    expect((await exchange(url, head('GET', '/healthz')))?.status).toBe(200);
    expect(fs.existsSync(packagePath(root, later))).toBe(false);
  });
});

describe('a method that no resource has', () => {
  it.each(METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'CONNECT'].includes(method)))(
    '%s is refused with those that it has',
    async (method) => {
      const answer = await exchange(running.url, head(method, '/snapshots', ['Content-Length: 0']));
      expect(answer?.status).toBe(405);
      expect(answer?.headers.allow).toBe('GET, HEAD, POST');
      problemOf(answer!, 'method_not_allowed');
    },
  );

  it('CONNECT is refused as well, after the answers before it', async () => {
    const wire = await Wire.open(running.url);
    await wire.send(`${head('GET', '/healthz')}CONNECT example:443 HTTP/1.1\r\nHost: example:443\r\n\r\n`);
    expect((await wire.answer())?.status).toBe(200);
    const refusal = await wire.answer();
    expect(refusal?.status).toBe(405);
    expect(refusal?.headers.allow).toBe('GET, HEAD, POST');
    expect(jsonOf(refusal!)).toMatchObject({ code: 'method_not_allowed' });
    expect(await wire.closed()).toBe(true);
    wire.destroy();
  });

  it.each(['/snapshots/', '/contexts/', '/nowhere'])('is not advised where nothing is: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await exchange(running.url, head(method, path, ['Content-Length: 0']));
      expect(answer?.status, method).toBe(404);
      expect(answer?.headers.allow).toBeUndefined();
    }
  });
});

describe('every guard sees its header behind thousands of others', () => {
  const MANY = Array.from({ length: 2500 }, () => 'a:');

  it.each([
    ['Host', ['Host: other.example'], 403],
    ['Origin', ['Origin: http://evil.example'], 403],
    ['Expect', ['Expect: the-unexpected'], 417],
    ['If-None-Match', ['If-None-Match: *'], 304],
    ['If-Match', ['If-Match: "other"'], 412],
  ] as const)('%s', async (_, lines, status) => {
    await publish(running.url, id, { ids: { dtype: 'uint8', bytes: ARRAY } });
    const answer = await exchange(running.url, head('GET', `/snapshots/${id}`, [...MANY, ...lines]));
    expect(answer?.status).toBe(status);
  });

  it.each([
    ['Content-Digest', 'Content-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:', 400],
    ['Content-Encoding', 'Content-Encoding: gzip', 415],
    ['a second Content-Type', 'Content-Type: multipart/form-data; boundary=other', 400],
    ['Authorization', 'X-Last: 1', 401],
  ] as const)('%s of an upload', async (name, line, status) => {
    const { url, root } = await appForTest({ settings: name === 'Authorization' ? { token: 'secret' } : {} });
    const whole = uploadOf(id)
      .toString('latin1')
      .replace('\r\n\r\n', `\r\n${[...MANY, line].join('\r\n')}\r\n\r\n`);
    const answer = await exchange(url, Buffer.from(whole, 'latin1'));
    expect(answer?.status).toBe(status);
    expect(fs.existsSync(packagePath(root, id))).toBe(false);
  });

  it('a token is found behind them', async () => {
    const { url } = await appForTest({ settings: { token: 'secret' } });
    const answer = await exchange(url, head('GET', '/snapshots', [...MANY, 'Authorization: Bearer secret']));
    expect(answer?.status).toBe(200);
  });
});
