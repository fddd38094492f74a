/** Answers that no service gives: endless, dripping, of other shapes and lengths. Each ends soon, as an error of the client. */
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import {
  ChecksumMismatchError,
  ConnectionError,
  isProblemError,
  OutcomeUnknownError,
  ProtocolError,
  SnapshotClientError,
  TimeoutError,
  type ClientOptions,
  type ListOptions,
  type SnapshotClient,
} from '../../src/client/index.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { idOf } from '../support/stores.ts';
import { clientOf, metadataOf } from './running-service.ts';

const ID = idOf(1);
const MIB = 1024 * 1024;

type Answerer = (request: IncomingMessage, response: ServerResponse, socket: Socket) => void;

/** A server that answers every request so, and a client of it that asks once. */
async function answering(answer: Answerer, options: Partial<ClientOptions> = {}) {
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests += 1;
    response.on('error', () => undefined);
    request.resume();
    answer(request, response, request.socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: clientOf({ baseUrl, retry: false, ...options }), requests: () => requests };
}

/** Sends until the other side is gone, or three quarters of a GiB have left. */
function endless(
  response: ServerResponse,
  sent: { bytes: number },
  piece = Buffer.alloc(64 * 1024, ' '),
): void {
  const more = (): void => {
    while (sent.bytes < 768 * MIB && !response.destroyed) {
      sent.bytes += piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

const json = (document: unknown, status = 200): Answerer =>
  sending(Buffer.from(JSON.stringify(document)), { 'content-type': 'application/json' }, status);

function sending(body: Buffer | string, headers: http.OutgoingHttpHeaders, status = 200): Answerer {
  return (_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

const digestOf = (bytes: Uint8Array): string =>
  `sha-256=:${Buffer.from(sha256Hex(bytes), 'hex').toString('base64')}:`;

const TWELVE = Buffer.from('twelve bytes');
const arrayHeaders = (bytes: Buffer = TWELVE): http.OutgoingHttpHeaders => ({
  'content-type': 'application/octet-stream',
  'repr-digest': digestOf(bytes),
  etag: `"${sha256Hex(bytes)}"`,
  'array-dtype': 'uint8',
  'array-count': String(bytes.length),
  'array-endianness': 'little',
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Every route that the client calls. */
const CALLS: readonly (readonly [string, (client: SnapshotClient) => Promise<unknown>])[] = [
  ['publish', (client) => client.publish(metadataOf(ID), { ids: Uint8Array.of(1) })],
  ['manifest', (client) => client.manifest(ID)],
  ['open', (client) => client.open(ID)],
  ['array', (client) => client.array(ID, 'ids')],
  ['arrayInfo', (client) => client.arrayInfo(ID, 'ids')],
  ['streamArray', (client) => collect(client.streamArray(ID, 'ids'))],
  ['list', (client) => collect(client.list())],
  ['listPage', (client) => client.listPage()],
  ['incomplete', (client) => collect(client.incomplete())],
  ['contexts', (client) => client.contexts()],
  ['health', (client) => client.health()],
  ['ready', (client) => client.ready()],
];

/** The error of a call; of a publication whose fate it leaves open, what did. */
const thrown = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof OutcomeUnknownError ? error.cause : error),
  );

test.each(CALLS)('%s reads no endless answer to its end', async (name, call) => {
  const sent = { bytes: 0 };
  const { client } = await answering((request, response) => {
    const isArray = request.url?.includes('array-ids') === true;
    const type = { 'content-type': isArray ? 'application/octet-stream' : 'application/json' };
    response.writeHead(request.method === 'POST' ? 201 : 200, { ...arrayHeaders(), ...type });
    if (request.method === 'HEAD') response.end();
    else endless(response, sent);
  });
  const error = await thrown(call(client));
  if (name === 'arrayInfo') expect(error).toBe('nothing was thrown');
  else expect(error).toBeInstanceOf(ProtocolError);
  const bounds: Record<string, number> = {
    publish: 128,
    array: 1,
    arrayInfo: 1,
    streamArray: 1,
    health: 1,
    ready: 1,
    contexts: 16,
  };
  // What waits in the buffers of both sockets counts as sent; a publication looks up what became of it.
  expect(sent.bytes).toBeLessThan(((bounds[name] ?? 64) + 16) * MIB);
});

test.each(CALLS)('%s reads no endless problem document to its end', async (_, call) => {
  const sent = { bytes: 0 };
  const { client } = await answering((request, response) => {
    response.writeHead(500, { 'content-type': 'application/problem+json' });
    if (request.method === 'HEAD') response.end();
    else endless(response, sent);
  });
  const error = await thrown(call(client));
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ status: 500 });
  expect(sent.bytes).toBeLessThan(64 * MIB);
});

test('a document that announces more than it may have is left before its first byte is read', async () => {
  const sent = { bytes: 0 };
  const { client } = await answering((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 512 * MIB });
    endless(response, sent);
  });
  expect(await thrown(client.health())).toBeInstanceOf(ProtocolError);
  expect(await thrown(client.listPage())).toBeInstanceOf(ProtocolError);
  expect(sent.bytes).toBeLessThan(16 * MIB);
});

test('an array of more memory than there is is refused in words, before a byte of it', async () => {
  const { client } = await answering(
    sending('', { ...arrayHeaders(), 'array-count': String(2 ** 52), 'transfer-encoding': 'chunked' }),
  );
  expect(await thrown(client.array(ID, 'ids'))).toMatchObject({ code: 'too_large' });
});

test.each(CALLS)('%s does not wait for ever for an answer that drips', async (_, call) => {
  const { client } = await answering(
    (request, response) => {
      const isArray = request.url?.includes('array-ids') === true;
      const dripped = { ...arrayHeaders(Buffer.alloc(1000)), 'transfer-encoding': 'chunked' };
      const refusal = { 'content-type': 'application/problem+json' };
      if (isArray && request.method === 'GET') response.writeHead(200, dripped);
      else if (isArray) response.writeHead(500).end();
      else if (request.method === 'POST') response.writeHead(500, refusal);
      else response.writeHead(200, { ...dripped, 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    },
    { timeouts: { bodyMs: 150 } },
  );
  const error = await thrown(call(client));
  // Headers are all that is asked of an array's description.
  if (error !== 'nothing was thrown') expect(error).toMatchObject({ code: 'timeout', phase: 'pace' });
  else expect(String(call)).toContain('arrayInfo');
});

test.each(CALLS)('%s counts the interim answers before the one that counts', async (_, call) => {
  let interim = 0;
  const { client, requests } = await answering((_request, _response, socket) => {
    const flood = (): void => {
      if (socket.destroyed || interim > 100_000) return;
      interim += 1;
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n');
      setImmediate(flood);
    };
    flood();
  });
  expect(await thrown(call(client))).toMatchObject({ code: 'protocol_violation' });
  expect(interim).toBeLessThan(10_000 * requests());
});

test.each(CALLS)(
  '%s is not led astray by a redirect, a success of another kind or an encoding',
  async (_, call) => {
    const hostile: readonly Answerer[] = [
      sending('', { location: 'http://127.0.0.1:9/elsewhere' }, 302),
      sending('{}', { 'content-type': 'application/json', location: '/snapshots' }, 307),
      sending('', {}, 204),
      sending('{}', { 'content-type': 'application/json' }, 202),
      sending('<h1>It works</h1>', { 'content-type': 'text/html' }, 200),
      sending('<h1>Bad gateway</h1>', { 'content-type': 'text/html' }, 502),
      sending('{}', { 'content-type': 'text/plain' }, 404),
      sending('{', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 200),
      sending('{}', { 'content-type': ['application/json; charset=utf-8', 'text/html'] }, 200),
      sending('null', { 'content-type': 'application/json' }, 200),
      sending('[[[[[', { 'content-type': 'application/json' }, 200),
      sending(Buffer.from([0x22, 0xff, 0x22]), { 'content-type': 'application/json' }, 200),
    ];
    for (const answer of hostile) {
      const { client, requests } = await answering(answer);
      const error = await thrown(call(client));
      expect(error).toBeInstanceOf(ProtocolError);
      expect(requests()).toBeLessThanOrEqual(2);
    }
  },
);

const PROBLEM = {
  type: '/problems/unavailable',
  title: 'Later',
  status: 503,
  detail: 'Later.',
  code: 'unavailable',
};

test.each([
  ['is no object', [PROBLEM]],
  ['has no code', { ...PROBLEM, code: undefined }],
  ['has a code that is no text', { ...PROBLEM, code: 7 }],
  ['has no sentence', { ...PROBLEM, detail: null }],
  ['is of another status than its answer', { ...PROBLEM, status: 404 }],
  ['lists errors that are none', { ...PROBLEM, errors: [{ path: 1 }] }],
  ['lists errors as text', { ...PROBLEM, errors: 'all' }],
  ['has a digest that is none', { ...PROBLEM, manifest_sha256: 'abc' }],
  ['has an id that is no text', { ...PROBLEM, snapshot_id: { toString: 1 } }],
  ['has an attempt that is no text', { ...PROBLEM, attempt: [] }],
])('a problem document that %s is none', async (_, document) => {
  const body = JSON.stringify(document);
  const { client } = await answering(sending(body, { 'content-type': 'application/problem+json' }, 503));
  for (const [, call] of CALLS) {
    const error = await thrown(call(client));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(isProblemError(error)).toBe(false);
  }
});

test('a code of a later service is a refusal with its members', async () => {
  const document = { ...PROBLEM, status: 409, code: 'retention_hold', until: '2030', snapshot_id: ID };
  const body = JSON.stringify(document);
  const { client } = await answering(sending(body, { 'content-type': 'application/problem+json' }, 409));
  expect(await thrown(client.manifest(ID))).toMatchObject({ code: 'retention_hold', problem: document });
});

test.each<[string, http.OutgoingHttpHeaders | Record<string, string[]>]>([
  ['a digest twice', { 'repr-digest': [digestOf(TWELVE), digestOf(Buffer.from('x'))] }],
  ['a digest of another length', { 'repr-digest': 'sha-256=:AAAA:' }],
  ['a digest that is no byte sequence', { 'repr-digest': `sha-256="${sha256Hex(TWELVE)}"` }],
  ['a tag twice', { etag: ['"a"', '"a"'] }],
  ['a dtype twice', { 'array-dtype': ['uint8', 'uint8'] }],
  ['a count that is negative', { 'array-count': '-12' }],
  ['a count beyond every length', { 'array-count': '18446744073709551615' }],
  ['a count of another length', { 'array-count': '11' }],
  ['an encoding', { 'content-encoding': 'identity, br' }],
])('an array with %s is refused', async (_, headers) => {
  const { client } = await answering(
    sending(TWELVE, {
      ...arrayHeaders(),
      ...headers,
      'transfer-encoding': 'chunked',
    }),
  );
  for (const call of [() => client.array(ID, 'ids'), () => collect(client.streamArray(ID, 'ids'))]) {
    expect(await thrown(call())).toBeInstanceOf(ProtocolError);
  }
});

test('an array that ends early, goes on, or holds other bytes is refused; a part nobody asked for too', async () => {
  const chunked = { ...arrayHeaders(), 'transfer-encoding': 'chunked' };
  const early = await answering(sending(TWELVE.subarray(1), chunked));
  expect(await thrown(early.client.array(ID, 'ids'))).toBeInstanceOf(ConnectionError);
  const late = await answering(sending(Buffer.concat([TWELVE, TWELVE]), chunked));
  expect(await thrown(late.client.array(ID, 'ids'))).toBeInstanceOf(ProtocolError);
  const other = await answering(sending(Buffer.from('other bytes!'), chunked));
  expect(await thrown(other.client.array(ID, 'ids'))).toBeInstanceOf(ChecksumMismatchError);
  const part = await answering(sending(TWELVE, { ...chunked, 'content-range': 'bytes 0-11/12' }, 206));
  expect(await thrown(part.client.array(ID, 'ids'))).toBeInstanceOf(ProtocolError);
});

test('trailers without end, and a header section without end, are given up', async () => {
  const line = `x-more: ${'a'.repeat(1000)}\r\n`;
  for (const head of [
    '',
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`,
  ]) {
    let written = 0;
    const { client } = await answering((_request, _response, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}`);
      const more = (): void => {
        if (socket.destroyed || written > 10_000) return;
        written += 1;
        socket.write(line, () => setImmediate(more));
      };
      more();
    });
    expect(await thrown(client.health())).toBeInstanceOf(SnapshotClientError);
    expect(written).toBeLessThan(10_000);
  }
});

test('headers that drip are bounded by the timeout of the headers', async () => {
  const { client } = await answering(
    (_request, _response, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const drip = setInterval(() => socket.write('a'), 50);
      socket.on('close', () => clearInterval(drip));
    },
    { timeouts: { headersMs: 1_100 } },
  );
  expect(await thrown(client.health())).toBeInstanceOf(TimeoutError);
});

const SUMMARY = {
  snapshot_id: ID,
  parent_id: null,
  source_namespace: 'npm.packages',
  source_version: '1',
  scope: 'all',
  resolution: 'value',
  coverage_status: 'COMPLETE',
  started_at_ns: '1',
  finished_at_ns: '2',
  array_count: 1,
  byte_length: '8',
  manifest_sha256: 'a'.repeat(64),
};
const ATTEMPT = {
  path: 'staging/a',
  snapshot_id: null,
  phase: 'STAGING',
  diagnostic: '',
  byte_length: '0',
  modified_at: null,
};
const WRONG_VALUES: readonly unknown[] = [
  undefined,
  true,
  -1,
  1.5,
  '',
  ' 1',
  '01',
  {},
  [],
  { toString: 1 },
  'x'.repeat(20),
  null,
];
/** What a member may be although other members may not. */
const LEGAL: Readonly<Record<string, readonly unknown[]>> = {
  parent_id: [null],
  source_namespace: [' 1', '01', 'x'.repeat(20)],
  source_version: [' 1', '01', 'x'.repeat(20)],
  scope: [' 1', '01', 'x'.repeat(20)],
  path: [' 1', '01', 'x'.repeat(20)],
  snapshot_id: [],
  diagnostic: ['', ' 1', '01', 'x'.repeat(20)],
};

test.each(Object.keys(SUMMARY))('a listing whose %s is of another type is refused', async (name) => {
  for (const value of WRONG_VALUES.filter((wrong) => !(LEGAL[name] ?? []).includes(wrong))) {
    const { client } = await answering(json({ snapshots: [{ ...SUMMARY, [name]: value }], next: null }));
    expect(await thrown(client.listPage()), JSON.stringify(value)).toBeInstanceOf(ProtocolError);
    expect(await thrown(client.listPage({ damaged: 'show', order: 'newest' }))).toBeInstanceOf(ProtocolError);
  }
});

test.each(Object.keys(ATTEMPT))(
  'a listing of attempts whose %s is of another type is refused',
  async (name) => {
    const legal = [...(LEGAL[name] ?? []), ...(['snapshot_id', 'modified_at'].includes(name) ? [null] : [])];
    for (const value of WRONG_VALUES.filter((wrong) => !legal.includes(wrong))) {
      if (name === 'modified_at' && typeof value === 'string' && !Number.isNaN(Date.parse(value))) continue;
      const { client } = await answering(json({ incomplete: [{ ...ATTEMPT, [name]: value }], next: null }));
      expect(await thrown(client.incompletePage()), JSON.stringify(value)).toBeInstanceOf(ProtocolError);
    }
  },
);

test.each([
  ['no list', { snapshots: {}, next: null }],
  ['no cursor', { snapshots: [] }],
  ['an empty cursor', { snapshots: [SUMMARY], next: '' }],
  ['a number as cursor', { snapshots: [SUMMARY], next: 1 }],
  ['a cursor of a megabyte', { snapshots: [SUMMARY], next: 'a'.repeat(MIB) }],
  ['a null entry', { snapshots: [null], next: null }],
  ['a text as entry', { snapshots: ['a'], next: null }],
  ['one snapshot twice', { snapshots: [SUMMARY, SUMMARY], next: null }],
  ['a weaker proof than asked for', { snapshots: [SUMMARY], next: null, proof: 'frame' }],
  [
    'a damaged entry nobody asked for',
    { snapshots: [{ snapshot_id: ID, problem: { code: 'a', detail: 'b' } }], next: null },
  ],
  ['entries of another namespace', { snapshots: [{ ...SUMMARY, source_namespace: 'x' }], next: null }],
  ['more entries than asked for', { snapshots: [SUMMARY, { ...SUMMARY, snapshot_id: idOf(2) }], next: null }],
])('a listing with %s is refused', async (_, document) => {
  const { client } = await answering(json(document));
  const asked = { limit: 1, sourceNamespace: SUMMARY.source_namespace };
  expect(await thrown(client.listPage(asked))).toBeInstanceOf(ProtocolError);
});

test('what is damaged is listed among the others where that was asked for', async () => {
  const damaged = {
    snapshot_id: idOf(2),
    problem: { code: 'storage_integrity', detail: 'The marker is missing.' },
  };
  const { client } = await answering(json({ snapshots: [SUMMARY, damaged], next: null, proof: 'frame' }));
  const found = await collect(client.list({ damaged: 'show', proof: 'frame' }));
  expect(found).toEqual([SUMMARY, damaged]);
  for (const problem of [null, 7, {}, { code: '', detail: 'a' }, { code: 'a' }, { code: 'a', detail: 1 }]) {
    const wrong = await answering(json({ snapshots: [{ ...damaged, problem }], next: null }));
    expect(await thrown(wrong.client.listPage({ damaged: 'show' }))).toBeInstanceOf(ProtocolError);
  }
});

test('every listing parameter reaches the service by its own name', async () => {
  const asked: string[] = [];
  const { client } = await answering((request, response, socket) => {
    asked.push(request.url ?? '');
    json({ snapshots: [], next: null, proof: 'frame' })(request, response, socket);
  });
  const all: ListOptions = {
    sourceNamespace: 'a b',
    parentId: ID,
    since: 1n,
    until: '2',
    order: 'newest',
    proof: 'frame',
    damaged: 'show',
    pageSize: 7,
  };
  await collect(client.list(all));
  const query = `limit=7&source_namespace=a+b&parent_id=${ID}&since=1&until=2&order=newest&proof=frame&damaged=show`;
  expect(asked).toEqual([`/snapshots?${query}`]);
});

/** Pages whose cursors lead back: to themselves, in a circle, onwards without entries, or to what was there before. */
const pages = (answer: (after: string | null) => object): Answerer => {
  return (request, response, socket) => {
    const after = new URL(request.url ?? '', 'http://localhost').searchParams.get('after');
    json(answer(after))(request, response, socket);
  };
};

test.each<[string, (after: string | null, n: number) => object, ListOptions]>([
  ['stands still', () => ({ snapshots: [SUMMARY], next: ID }), {}],
  [
    'goes in a circle',
    (after) => ({ snapshots: [SUMMARY], next: after === 'a' ? 'b' : 'a' }),
    { order: 'newest' },
  ],
  ['goes on without entries', (_, n) => ({ snapshots: [], next: `cursor-${n}` }), { order: 'newest' }],
  [
    'goes back by id',
    (_, n) => ({ snapshots: [{ ...SUMMARY, snapshot_id: idOf(100 - n) }], next: idOf(100 - n) }),
    {},
  ],
])('a listing that %s is not followed for ever', async (_, answer, options) => {
  let count = 0;
  const { client, requests } = await answering(
    pages((after) => {
      count += 1;
      return answer(after, count);
    }),
  );
  expect(await thrown(collect(client.list(options)))).toBeInstanceOf(ProtocolError);
  expect(requests()).toBeLessThan(6);
});

test('a listing of attempts that goes in a circle is not followed for ever', async () => {
  const { client, requests } = await answering(
    pages((after) => ({ incomplete: [ATTEMPT], next: after === 'a' ? 'b' : 'a' })),
  );
  expect(await thrown(collect(client.incomplete()))).toBeInstanceOf(ProtocolError);
  expect(requests()).toBeLessThan(6);
});
