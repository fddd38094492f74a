/** Reads from a service, and from one whose answers are dropped, delayed, cut or changed. */
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import {
  ArrayNotFoundError,
  ChecksumMismatchError,
  ConnectionError,
  InvalidSnapshotIdError,
  ProtocolError,
  RangeNotSatisfiableError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  TimeoutError,
  UnavailableError,
  type SnapshotClient,
} from '../../src/client/index.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { collect, declarations, idOf, pattern } from '../support/stores.ts';
import { changeAnswer, cutAnswer, faultyProxy, flipByte, passOn, problem } from './faulty-proxy.ts';
import type { Fault, Received } from './faulty-proxy.ts';
import { clientOf, corrupt, IMPATIENT, metadataOf, startService } from './running-service.ts';

const ID = idOf(1);
const SIZE = 1_000_000;
const bytes = pattern(SIZE);
const ARRAY = `GET /snapshots/${ID}/array-ids.bin`;

async function published(...faults: Fault[]) {
  const service = await startService();
  const direct = clientOf(service.url);
  await direct.publish(metadataOf(ID), { ids: bytes, small: Int32Array.of(1, -2), empty: new Int8Array(0) });
  const proxy = await faultyProxy(service.url, faults);
  return { service, direct, proxy, client: clientOf(proxy.url) };
}

const wholeArray = async (client: SnapshotClient) => (await client.array(ID, 'ids')) as Uint8Array;

const withHeaders = (changes: Received['headers']): Fault =>
  changeAnswer(({ headers }) => ({ headers: { ...headers, ...changes } }));

test('arrays, their streams and their descriptions are what was published', async () => {
  const { direct } = await published();
  expect(await direct.array(ID, 'small')).toEqual(Int32Array.of(1, -2));
  expect(await direct.array(ID, 'empty')).toEqual(new Int8Array(0));
  expect(sha256Hex(await collect(direct.streamArray(ID, 'ids')))).toBe(sha256Hex(bytes));
  expect(await collect(direct.streamArray(ID, 'empty'))).toHaveLength(0);
  const sha256 = sha256Hex(bytes);
  expect(await direct.arrayInfo(ID, 'ids')).toEqual({
    dtype: 'uint8',
    count: SIZE,
    byteLength: SIZE,
    sha256,
    etag: `"${sha256}"`,
  });
});

test('what open gives belongs to the caller alone', async () => {
  const { direct } = await published();
  const first = await direct.open(ID);
  (first.arrays['small'] as Int32Array)[0] = 99;
  expect((await direct.open(ID)).arrays['small']).toEqual(Int32Array.of(1, -2));
});

test.each([
  [{ start: 10 }, 10, SIZE],
  [{ end: 7 }, 0, 7],
  [{ start: 500_000, end: 500_001 }, 500_000, 500_001],
  [{ start: 999_990, end: 2_000_000 }, 999_990, SIZE],
])('the range %o holds exactly its bytes', async (range, start, end) => {
  const { direct } = await published();
  const read = await collect(direct.streamArray(ID, 'ids', range));
  expect(read.length).toBe(end - start);
  expect(read.equals(bytes.subarray(start, end))).toBe(true);
});

test('a range outside the array, or none at all, is refused', async () => {
  const { direct } = await published();
  await expect(collect(direct.streamArray(ID, 'ids', { start: SIZE }))).rejects.toBeInstanceOf(
    RangeNotSatisfiableError,
  );
  for (const range of [{ start: 5, end: 5 }, { start: -1 }, { start: 0.5 }, { end: Number.NaN }]) {
    await expect(collect(direct.streamArray(ID, 'ids', range))).rejects.toMatchObject({
      code: 'invalid_option',
    });
  }
});

test('what is not there is told by its class', async () => {
  const { direct } = await published();
  await expect(direct.manifest(idOf(9))).rejects.toBeInstanceOf(SnapshotNotFoundError);
  await expect(direct.open(idOf(9))).rejects.toBeInstanceOf(SnapshotNotFoundError);
  await expect(direct.array(ID, 'nothing')).rejects.toBeInstanceOf(ArrayNotFoundError);
  await expect(direct.arrayInfo(ID, 'nothing')).rejects.toBeInstanceOf(ArrayNotFoundError);
  for (const id of ['', '..', `${ID}\n`, ID.toUpperCase().replace('0', 'A'), `${ID}/array-ids.bin`]) {
    await expect(direct.manifest(id), JSON.stringify(id)).rejects.toBeInstanceOf(InvalidSnapshotIdError);
  }
  await expect(direct.array(ID, '../../x')).rejects.toMatchObject({ code: 'invalid_request', local: true });
});

test('stored bytes that do not hold are an integrity error, from every kind of read', async () => {
  const { direct, service } = await published();
  corrupt(join(service.root, 'snapshots', ID, 'array-ids.bin'));
  await expect(direct.manifest(ID)).rejects.toBeInstanceOf(StorageIntegrityError);
  await expect(direct.array(ID, 'ids')).rejects.toBeInstanceOf(StorageIntegrityError);
  await expect(direct.arrayInfo(ID, 'ids')).rejects.toBeInstanceOf(StorageIntegrityError);
  const listing = await direct.listPage().catch((thrown: unknown) => thrown);
  expect(listing).toMatchObject({ code: 'storage_integrity', errors: [{ path: ID }] });
});

test('a download that breaks off goes on where it stopped, as often as needed', async () => {
  const { client, proxy } = await published(
    cutAnswer(100_000),
    cutAnswer(250_000),
    cutAnswer(1),
    cutAnswer(5),
    passOn,
  );
  expect(sha256Hex(await collect(client.streamArray(ID, 'ids')))).toBe(sha256Hex(bytes));
  expect(proxy.requests).toEqual([ARRAY, ARRAY, ARRAY, ARRAY, ARRAY]);
  expect(proxy.ranges[0]).toBeNull();
  for (const range of proxy.ranges.slice(1)) expect(range).toMatch(/^bytes=[1-9]\d*-$/u);
  const etag = `"${sha256Hex(bytes)}"`;
  expect(proxy.conditions).toEqual([null, etag, etag, etag, etag]);
});

test('a range that breaks off is completed within its bounds', async () => {
  const { client, proxy } = await published(cutAnswer(1_000));
  const read = await collect(client.streamArray(ID, 'ids', { start: 50_000, end: 90_000 }));
  expect(sha256Hex(read)).toBe(sha256Hex(bytes.subarray(50_000, 90_000)));
  expect(proxy.ranges[1]).toMatch(/^bytes=5\d{4}-89999$/u);
});

test('a download that stalls goes on after the timeout', async () => {
  const stall: Fault = async (exchange) => {
    const { status, headers, body } = await exchange.forward();
    exchange.response.writeHead(status, headers as Record<string, string>);
    exchange.response.write(body.subarray(0, 1000));
  };
  const { proxy } = await published(stall);
  const client = clientOf({ baseUrl: proxy.url, timeouts: { bodyMs: 1_100 } });
  expect(sha256Hex(await wholeArray(client))).toBe(sha256Hex(bytes));
});

test('a service that sends everything although a rest was asked for is read from the right place', async () => {
  const ignoreRange: Fault = async (exchange) => {
    delete exchange.request.headers.range;
    exchange.answer(await exchange.forward());
  };
  const { client } = await published(cutAnswer(100_000), ignoreRange);
  expect(sha256Hex(await wholeArray(client))).toBe(sha256Hex(bytes));
});

test('two versions are never mixed: another entity tag in the middle ends the read', async () => {
  const other = `"${'0'.repeat(64)}"`;
  const { client } = await published(cutAnswer(100_000), withHeaders({ etag: other }));
  await expect(collect(client.streamArray(ID, 'ids'))).rejects.toThrow('changed while it was read');
});

test('the tries are bounded where nothing comes through', async () => {
  const { client, proxy } = await published(
    ...Array.from(
      { length: 9 },
      (): Fault =>
        ({ reset }) =>
          reset(),
    ),
  );
  await expect(client.array(ID, 'ids')).rejects.toBeInstanceOf(ConnectionError);
  expect(proxy.requests).toHaveLength(IMPATIENT.attempts);
});

test('a wrong byte in an array ends its stream with a checksum error, and no array is given', async () => {
  const wrong = changeAnswer(({ body }) => ({ body: flipByte(body) }));
  const { client } = await published(wrong, wrong);
  let received = 0;
  const reading = (async () => {
    for await (const piece of client.streamArray(ID, 'ids')) received += piece.length;
  })();
  await expect(reading).rejects.toBeInstanceOf(ChecksumMismatchError);
  expect(received).toBe(SIZE);
  await expect(client.array(ID, 'ids')).rejects.toMatchObject({ expected: sha256Hex(bytes) });
});

test('open holds every array to the manifest, not to its own headers', async () => {
  const forged = Buffer.from('forged!!');
  const digest = `sha-256=:${Buffer.from(sha256Hex(forged), 'hex').toString('base64')}:`;
  const forge: Fault = async (exchange) => {
    const received = await exchange.forward();
    if (!exchange.request.url?.includes('small')) {
      exchange.answer(received);
      return;
    }
    const headers = { ...received.headers, 'repr-digest': digest, etag: `"${sha256Hex(forged)}"` };
    exchange.answer({ ...received, headers, body: forged });
  };
  const { client } = await published(passOn, forge, forge, forge);
  await expect(client.open(ID)).rejects.toBeInstanceOf(ChecksumMismatchError);
});

test.each([
  ['no digest', { 'repr-digest': undefined }, 'no SHA-256 in Repr-Digest'],
  ['a digest of another kind', { 'repr-digest': 'md5=:AAAA:' }, 'no SHA-256 in Repr-Digest'],
  ['no dtype', { 'array-dtype': undefined }, 'Array-Dtype'],
  ['a dtype of floats', { 'array-dtype': 'float64' }, 'Array-Dtype'],
  ['a count of another length', { 'array-count': '5' }, 'Content-Length'],
  ['the other byte order', { 'array-endianness': 'big' }, 'Array-Endianness'],
  ['a weak tag', { etag: 'W/"1"' }, 'ETag'],
  ['another content type', { 'content-type': 'text/html' }, 'Expected application/octet-stream'],
])('an array with %s is an answer against the contract', async (_, headers, message) => {
  const { client } = await published(withHeaders(headers));
  const reading = client.array(ID, 'ids');
  await expect(reading).rejects.toBeInstanceOf(ProtocolError);
  await expect(reading).rejects.toThrow(message);
});

test('a wrong Content-Range is an answer against the contract', async () => {
  const { client } = await published(withHeaders({ 'content-range': `bytes 0-9/${SIZE}` }));
  await expect(collect(client.streamArray(ID, 'ids', { start: 10, end: 20 }))).rejects.toThrow(
    'Content-Range',
  );
});

const rewritten = (rewrite: (text: string) => string): Fault =>
  changeAnswer(({ headers, body }) => {
    const changed = Buffer.from(rewrite(body.toString()));
    const sha256 = sha256Hex(changed);
    return {
      body: changed,
      headers: {
        ...headers,
        etag: `"${sha256}"`,
        'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
        'content-length': String(changed.length),
      },
    };
  });

test.each([
  ['has a wrong byte', changeAnswer(({ body }) => ({ body: flipByte(body) })), ChecksumMismatchError],
  ['has a tag of another', withHeaders({ etag: `"${'0'.repeat(64)}"` }), ProtocolError],
  ['has no digest', withHeaders({ 'repr-digest': undefined }), ProtocolError],
  ['is not canonical', rewritten((text) => text.replace('"arrays":', '"arrays": ')), ProtocolError],
  ['breaks a rule', rewritten((text) => text.replace('"COMPLETE"', '"PARTIAL"')), ProtocolError],
  ['is of another version', rewritten((text) => text.replace('"version":1', '"version":2')), ProtocolError],
  ['is of another snapshot', rewritten((text) => text.replace(ID, idOf(2))), ProtocolError],
  ['is no JSON', rewritten(() => 'hello'), ProtocolError],
])('a manifest that %s is not believed', async (_, fault, Class) => {
  const { client } = await published(fault);
  await expect(client.manifest(ID)).rejects.toBeInstanceOf(Class);
});

test('a manifest is asked for again after a cut answer, a reset and an unavailable service', async () => {
  const { client, proxy } = await published(cutAnswer(20), problem(503, 'unavailable'));
  expect((await client.manifest(ID)).manifest.snapshot.snapshot_id).toBe(ID);
  expect(proxy.requests).toHaveLength(3);
});

test('a page of something else is no answer of the service', async () => {
  const html: Fault = ({ answer }) =>
    answer({ status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<h1>It works</h1>') });
  const { client } = await published(html, html, html);
  await expect(client.manifest(ID)).rejects.toThrow('Check that the URL is that of a snapshot service');
  await expect(client.listPage()).rejects.toBeInstanceOf(ProtocolError);
  await expect(client.contexts()).rejects.toBeInstanceOf(ProtocolError);
});

test('what does not speak HTTP is told so', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('220 mail.example ESMTP\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const client = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(client.health()).rejects.toThrow('what answers is not HTTP');
});

test('no listener, and no answer in time, are errors that say where', async () => {
  const nobody = clientOf({ baseUrl: 'http://127.0.0.1:9', retry: false });
  await expect(nobody.health()).rejects.toThrow('http://127.0.0.1:9: nothing listens there (ECONNREFUSED).');
  const noSocket = clientOf({ socketPath: '/nowhere/service.sock', retry: false });
  await expect(noSocket.health()).rejects.toThrow('the folder of this socket does not exist');
  const { proxy } = await published(() => undefined);
  const waiting = clientOf({ baseUrl: proxy.url, timeouts: { headersMs: 1_100 } }).health();
  await expect(waiting).rejects.toBeInstanceOf(TimeoutError);
  await expect(waiting).rejects.toMatchObject({ code: 'timeout', phase: 'headers' });
});

test('an abort signal ends each kind of read with its own reason', async () => {
  const silent: Fault = () => undefined;
  const { client } = await published(silent, silent, silent, silent);
  const reads = [
    (signal: AbortSignal) => client.manifest(ID, { signal }),
    (signal: AbortSignal) => client.array(ID, 'ids', { signal }),
    (signal: AbortSignal) => collect(client.streamArray(ID, 'ids', { signal })),
    (signal: AbortSignal) => client.list({ signal }).next(),
  ];
  for (const read of reads) {
    const controller = new AbortController();
    const reading = read(controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await expect(reading).rejects.toThrow('enough');
  }
  await expect(client.manifest(ID, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
    'too late',
  );
});

test('leaving a stream early leaves the client usable', async () => {
  const { direct } = await published();
  for await (const piece of direct.streamArray(ID, 'ids')) {
    expect(piece.length).toBeGreaterThan(0);
    break;
  }
  expect(await direct.array(ID, 'small')).toEqual(Int32Array.of(1, -2));
});

test('listings are followed page after page, and filtered', async () => {
  const { direct, proxy, client } = await published();
  for (let index = 2; index <= 7; index += 1) {
    await direct.publish(
      metadataOf(idOf(index), { source_namespace: index % 2 === 0 ? 'even' : 'odd', parent_id: ID }),
      {},
    );
  }
  const ids = async (options: Parameters<typeof client.list>[0]) => {
    const found: string[] = [];
    for await (const summary of client.list(options)) found.push(summary.snapshot_id);
    return found;
  };
  expect(await ids({ pageSize: 3 })).toEqual([1, 2, 3, 4, 5, 6, 7].map(idOf));
  expect(proxy.requests).toHaveLength(3);
  expect(await ids({ sourceNamespace: 'even', pageSize: 2 })).toEqual([2, 4, 6].map(idOf));
  expect(await ids({ parentId: ID })).toEqual([2, 3, 4, 5, 6, 7].map(idOf));
  const page = await client.listPage({ limit: 2, after: idOf(3) });
  expect(page.items.map((item) => item.snapshot_id)).toEqual([idOf(4), idOf(5)]);
  expect(page.next).toBe(idOf(5));
});

test('a listing that does not advance is told instead of followed for ever', async () => {
  // A whole, well-formed page whose cursor leads back to itself, whatever it was asked for.
  const stuck: Fault = async (exchange) => {
    exchange.request.url = '/snapshots';
    const received = await exchange.forward();
    const body = JSON.stringify({ ...JSON.parse(received.body.toString()), next: ID });
    exchange.answer({
      ...received,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
    });
  };
  const { client } = await published(stuck, stuck, stuck);
  const all = async () => {
    for await (const _ of client.list());
  };
  await expect(all()).rejects.toThrow('does not advance');
});

test('attempts left behind, declarations and probes can be asked for', async () => {
  const { direct, client } = await published();
  const failing = direct.publish(metadataOf(idOf(3)), { ids: { dtype: 'int64', data: Buffer.alloc(9) } });
  await expect(failing).rejects.toMatchObject({ code: 'array_mismatch' });
  const attempts = [];
  for await (const attempt of client.incomplete({ pageSize: 1 })) attempts.push(attempt);
  expect(attempts).toMatchObject([{ snapshot_id: idOf(3), phase: 'STAGING' }]);
  expect(attempts[0]?.path).toMatch(/^staging\//u);
  expect(await client.contexts()).toEqual(declarations);
  expect(await client.health()).toEqual({ status: 'alive' });
  expect(await client.ready()).toMatchObject({ status: 'ready' });
});

test('a service that is not ready says so', async () => {
  const { client } = await published(problem(503, 'unavailable', {}, { 'retry-after': '5' }));
  await expect(client.ready()).rejects.toBeInstanceOf(UnavailableError);
});

test.each([
  ['ftp://127.0.0.1', 'must be an http:// or https:// URL'],
  ['nonsense', 'must be an http:// or https:// URL'],
  ['http://user:secret@127.0.0.1', 'no user name or password'],
  ['http://127.0.0.1/?a=1', 'neither a query nor a fragment'],
])('the base URL %s is refused at once', (url, message) => {
  expect(() => clientOf(url)).toThrow(message);
});

test('options that cannot work are refused at once, a token without showing it', () => {
  const baseUrl = 'http://127.0.0.1:9';
  expect(() => clientOf({ baseUrl, token: 'new\nline' })).toThrow(
    /^token must be visible ASCII without blanks/u,
  );
  expect(() => clientOf({ baseUrl, timeouts: { bodyMs: -1 } })).toThrow('timeouts.bodyMs');
  expect(() => clientOf({ baseUrl, retry: { attempts: 0 } })).toThrow('retry.attempts');
  expect(() => clientOf({})).toThrow('baseUrl is missing');
});
