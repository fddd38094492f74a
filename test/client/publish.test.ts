import { Buffer } from 'node:buffer';
import fs from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

import {
  ArrayMismatchError,
  ContractViolationError,
  FingerprintContextMismatchError,
  ProblemError,
  SnapshotExistsError,
  SourceError,
  UnauthorizedError,
} from '../../src/client/index.ts';
import type { PublishProgress } from '../../src/client/index.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { idOf, pattern } from '../support/stores.ts';
import { faultyProxy, flipByte } from './faulty-proxy.ts';
import { clientOf, metadataOf, startService, temporaryDirectory } from './running-service.ts';

const ID = idOf(1);

test('every kind of typed array comes back as it was', async () => {
  const client = clientOf((await startService()).url);
  const arrays = {
    a: Int8Array.of(-128, 0, 127),
    b: Int16Array.of(-32768, 32767),
    c: Int32Array.of(-2147483648, 2147483647),
    d: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n),
    e: Uint8Array.of(0, 255),
    f: Uint16Array.of(0, 65535),
    g: Uint32Array.of(0, 4294967295),
    h: BigUint64Array.of(0n, 2n ** 64n - 1n),
    constructor: new Int32Array(0),
  };
  const result = await client.publish(metadataOf(ID), arrays);
  expect(result).toMatchObject({ outcome: 'published', attempts: 1, confirmedAfter: null });
  const opened = await client.open(ID);
  expect({ ...opened.arrays }).toEqual(arrays);
  expect(opened.metadata).toEqual(metadataOf(ID));
  expect(Buffer.from(opened.manifestBytes)).toEqual(Buffer.from(result.manifestBytes));
});

test('bytes, files, a Node stream, a web stream and a generator are stored byte for byte', async () => {
  const { url, root } = await startService();
  const bytes = pattern(3 * 1024 * 1024 + 8);
  const path = join(temporaryDirectory(), 'ids.bin');
  fs.writeFileSync(path, bytes);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 100_003) yield bytes.subarray(at, at + 100_003);
  }
  await clientOf(url).publish(metadataOf(ID), {
    memory: { dtype: 'uint64', data: bytes },
    file: { dtype: 'int64', path },
    node: { dtype: 'uint8', data: fs.createReadStream(path) },
    web: { dtype: 'int32', data: Readable.toWeb(fs.createReadStream(path)) as AsyncIterable<Uint8Array> },
    generator: { dtype: 'int16', data: pieces(), byteLength: bytes.length },
    part: bytes.subarray(3, 11),
  });
  const stored = (key: string) => fs.readFileSync(join(root, 'snapshots', ID, `array-${key}.bin`));
  for (const key of ['memory', 'file', 'node', 'web', 'generator']) {
    expect(sha256Hex(stored(key)), key).toBe(sha256Hex(bytes));
  }
  expect(stored('part')).toEqual(Buffer.from(bytes.subarray(3, 11)));
});

test('a snapshot without arrays can be published and opened', async () => {
  const client = clientOf((await startService()).url);
  await client.publish(metadataOf(ID), {});
  expect((await client.open(ID)).arrays).toEqual({});
});

test('bigints are taken as uint64, and parent_id may be left out', async () => {
  const client = clientOf((await startService()).url);
  const { parent_id: _, ...metadata } = metadataOf(ID);
  const { manifest } = await client.publish(
    { ...metadata, started_at_ns: 5n, finished_at_ns: 2n ** 64n - 1n },
    {},
  );
  expect(manifest.snapshot).toMatchObject({
    parent_id: null,
    started_at_ns: '5',
    finished_at_ns: '18446744073709551615',
  });
});

test('a stored manifest is a document that publishes the same bytes elsewhere', async () => {
  const arrays = { ids: BigUint64Array.of(1n, 2n) };
  const first = await clientOf((await startService()).url).publish(metadataOf(ID), arrays);
  const second = await clientOf((await startService()).url).publish(first.manifest, {
    ids: { data: new Uint8Array(arrays.ids.buffer) },
  });
  expect(second.manifestSha256).toBe(first.manifestSha256);
});

test('progress tells every byte once, and the total where it is known', async () => {
  const client = clientOf((await startService()).url);
  const known: PublishProgress[] = [];
  const size = 2 * 1024 * 1024 + 4;
  await client.publish(
    metadataOf(idOf(1)),
    { ids: new Uint8Array(size), more: Int32Array.of(1) },
    { onProgress: (progress) => known.push(progress) },
  );
  expect(known.at(0)).toEqual({ sentBytes: 0, totalBytes: size + 4, attempt: 1 });
  expect(known.at(-1)).toEqual({ sentBytes: size + 4, totalBytes: size + 4, attempt: 1 });
  expect(known.length).toBeGreaterThan(3);
  const unknown: PublishProgress[] = [];
  await client.publish(
    metadataOf(idOf(2)),
    { ids: { dtype: 'uint8', data: Readable.from([Buffer.alloc(10)]) } },
    { onProgress: (progress) => unknown.push(progress) },
  );
  expect(unknown.at(-1)).toEqual({ sentBytes: 10, totalBytes: null, attempt: 1 });
});

test('known sizes are sent with a Content-Length, unknown ones without', async () => {
  const lengths: (string | undefined)[] = [];
  const target = await startService();
  const note = (exchange: Parameters<NonNullable<Parameters<typeof faultyProxy>[1][number]>>[0]) => {
    lengths.push(exchange.request.headers['content-length']);
    return exchange.forward().then(exchange.answer);
  };
  const client = clientOf((await faultyProxy(target.url, [note, note])).url);
  await client.publish(metadataOf(idOf(1)), { ids: Int32Array.of(1) });
  await client.publish(metadataOf(idOf(2)), {
    ids: { dtype: 'uint8', data: Readable.from([Buffer.alloc(3)]) },
  });
  expect(lengths[0]).toMatch(/^\d+$/u);
  expect(lengths[1]).toBeUndefined();
});

test('every violation is told before anything is sent', async () => {
  const proxy = await faultyProxy('http://127.0.0.1:9', []);
  const error = await clientOf(proxy.url)
    .publish(
      {
        snapshot: metadataOf(ID, { scope: '', resolution: 'cell' }),
        arrays: { gone: { dtype: 'int8' }, ids: { dtype: 'int8' } },
      },
      { ids: Int32Array.of(1), nameless: { data: Buffer.alloc(3) } },
    )
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ContractViolationError);
  const refused = error as ContractViolationError;
  expect(refused).toMatchObject({ code: 'contract_violation', status: 422, local: true });
  const paths = refused.errors.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      'snapshot.scope',
      'snapshot.resolution',
      'arrays.gone',
      'arrays.ids.dtype',
      'arrays.nameless.dtype',
    ]),
  );
  expect(proxy.requests).toEqual([]);
});

test('what is no array of integers is refused by its key', async () => {
  const client = clientOf('http://127.0.0.1:9');
  for (const wrong of [
    Float64Array.of(1),
    [1, 2],
    'text',
    7,
    {},
    new Uint8ClampedArray(1),
    { dtype: 'int8', data: 'x' },
  ]) {
    const publishing = client.publish(metadataOf(ID), { ids: wrong as never });
    await expect(publishing).rejects.toThrow(/^arrays\.ids: expected a typed array/u);
    await expect(publishing).rejects.toBeInstanceOf(SourceError);
  }
});

test('a refusal of the service is an error of its own class with all its members', async () => {
  const client = clientOf((await startService()).url);
  await client.publish(metadataOf(ID), {});
  const exists = await client.publish(metadataOf(ID), {}).catch((thrown: unknown) => thrown);
  expect(exists).toBeInstanceOf(SnapshotExistsError);
  expect(exists).toMatchObject({
    code: 'snapshot_exists',
    status: 409,
    local: false,
    problem: { snapshot_id: ID, manifest_sha256: (await client.manifest(ID)).manifestSha256 },
  });
  const fingerprint = { ...metadataOf(ID).fingerprint, mode: 'other' };
  await expect(client.publish(metadataOf(idOf(2), { fingerprint }), {})).rejects.toBeInstanceOf(
    FingerprintContextMismatchError,
  );
});

test('ifExists confirm succeeds for the same snapshot and refuses another under its id', async () => {
  const client = clientOf((await startService()).url);
  const arrays = { ids: Int32Array.of(1, 2, 3) };
  await client.publish(metadataOf(ID), arrays);
  const again = await client.publish(metadataOf(ID), arrays, { ifExists: 'confirm' });
  expect(again.outcome).toBe('confirmed');
  expect(again.confirmedAfter).toBeInstanceOf(SnapshotExistsError);
  const other = client.publish(metadataOf(ID), { ids: Int32Array.of(1, 2, 4) }, { ifExists: 'confirm' });
  await expect(other).rejects.toBeInstanceOf(SnapshotExistsError);
  await expect(other).rejects.toThrow('published with other content');
});

test('bytes changed on the way are refused by the service, because their digests were declared', async () => {
  const target = await startService();
  const proxy = await faultyProxy(target.url, [
    async (exchange) => {
      const chunks: Buffer[] = [];
      for await (const chunk of exchange.request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      exchange.answer(
        await exchange.forward({ body: flipByte(body, body.indexOf(Buffer.alloc(64, 7)) + 9) }),
      );
    },
  ]);
  const publishing = clientOf(proxy.url).publish(metadataOf(ID), { ids: new Uint8Array(4096).fill(7) });
  await expect(publishing).rejects.toBeInstanceOf(ArrayMismatchError);
  await expect(clientOf(target.url).manifest(ID)).rejects.toMatchObject({ code: 'snapshot_not_found' });
});

test('without declared digests a change on the way is still noticed, in the answer', async () => {
  const target = await startService();
  const proxy = await faultyProxy(target.url, [
    async (exchange) => {
      const chunks: Buffer[] = [];
      for await (const chunk of exchange.request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      exchange.answer(
        await exchange.forward({ body: flipByte(body, body.indexOf(Buffer.alloc(64, 7)) + 9) }),
      );
    },
  ]);
  const publishing = clientOf(proxy.url).publish(
    metadataOf(ID),
    { ids: new Uint8Array(4096).fill(7) },
    { declareDigests: false },
  );
  await expect(publishing).rejects.toThrow('what was sent has');
});

test.each([
  ['shorter', [Buffer.alloc(5)], 'arrays.ids: expected 8 bytes, found 5.'],
  ['longer', [Buffer.alloc(8), Buffer.alloc(1)], 'arrays.ids: expected 8 bytes, found more.'],
  ['of strings', ['eight...'], 'arrays.ids: a stream must give bytes (Uint8Array).'],
])('a stream that is %s than it said publishes nothing', async (_, pieces, message) => {
  const client = clientOf((await startService()).url);
  const data = Readable.from(pieces);
  await expect(
    client.publish(metadataOf(ID), { ids: { dtype: 'uint8', data, byteLength: 8 } }),
  ).rejects.toThrow(message);
  await expect(client.manifest(ID)).rejects.toMatchObject({ code: 'snapshot_not_found' });
});

test('a stream that fails is the error, not the broken request', async () => {
  const client = clientOf((await startService()).url);
  async function* failing() {
    yield Buffer.alloc(100_000);
    throw new Error('the database went away');
  }
  const publishing = client.publish(metadataOf(ID), { ids: { dtype: 'uint8', data: failing() } });
  await expect(publishing).rejects.toBeInstanceOf(SourceError);
  await expect(publishing).rejects.toThrow('the database went away');
});

test('an abort signal ends a publication with its own reason', async () => {
  const client = clientOf((await startService()).url);
  const controller = new AbortController();
  async function* endless() {
    for (;;) {
      yield Buffer.alloc(65536);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const publishing = client.publish(
    metadataOf(ID),
    { ids: { dtype: 'uint8', data: endless() } },
    {
      signal: controller.signal,
      onProgress: ({ sentBytes }) => {
        if (sentBytes > 300_000) controller.abort(new Error('changed my mind'));
      },
    },
  );
  await expect(publishing).rejects.toThrow('changed my mind');
});

test('a token is sent, and its lack is told', async () => {
  const { url } = await startService({ token: 'secret-1' });
  await expect(
    clientOf(url).publish(metadataOf(ID), { ids: new Uint8Array(3_000_000) }),
  ).rejects.toBeInstanceOf(UnauthorizedError);
  await clientOf({ baseUrl: url, token: 'secret-1' }).publish(metadataOf(ID), {});
});

test('a unix socket and a base path lead to the service', async () => {
  const socket = join(temporaryDirectory(), 'service.sock');
  await startService({ socket });
  const overSocket = clientOf({ socketPath: socket });
  await overSocket.publish(metadataOf(ID), { ids: Int32Array.of(7) });
  expect(await overSocket.array(ID, 'ids')).toEqual(Int32Array.of(7));
  const { url } = await startService({ basePath: '/behind/a/proxy' });
  await clientOf(`${url}/`).publish(metadataOf(ID), {});
  await expect(clientOf(url.replace('/behind/a/proxy', '')).manifest(ID)).rejects.toBeInstanceOf(
    ProblemError,
  );
});
