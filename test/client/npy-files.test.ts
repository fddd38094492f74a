/** `.npy` files as arrays of a publication: sent as they are, stored as their raw payload. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { ArrayMismatchError, ContractViolationError, type PublishProgress } from '../../src/client/index.ts';
import { npyDict, npyFile, savedArray } from '../support/npy-files.ts';
import { idOf, pattern } from '../support/stores.ts';
import { faultyProxy } from './faulty-proxy.ts';
import { clientOf, metadataOf, startService, temporaryDirectory } from './running-service.ts';

const ID = idOf(1);
const RAW = pattern(2 * 1024 * 1024 + 8);

function fileOf(bytes: Uint8Array, name = 'ids.npy'): string {
  const path = join(temporaryDirectory(), name);
  fs.writeFileSync(path, bytes);
  return path;
}

test('a .npy file says its own dtype, is sent as one, and its payload alone is stored', async () => {
  const { url, root } = await startService();
  const bodies: Buffer[] = [];
  const proxy = await faultyProxy(url, [
    async ({ request, forward, answer }) => {
      for await (const chunk of request as AsyncIterable<Buffer>) bodies.push(chunk);
      answer(await forward({ body: Buffer.concat(bodies) }));
    },
  ]);
  const seen: PublishProgress[] = [];
  const path = fileOf(savedArray('uint64', RAW));
  const { manifest } = await clientOf(proxy.url).publish(
    metadataOf(ID),
    { ids: { path } },
    { onProgress: (progress) => seen.push(progress) },
  );
  expect(manifest.arrays['ids']).toMatchObject({ dtype: 'uint64', byte_length: String(RAW.length) });
  expect(fs.readFileSync(join(root, 'snapshots', ID, 'array-ids.bin')).equals(RAW)).toBe(true);
  expect(Buffer.concat(bodies).toString('latin1')).toContain(
    'Content-Type: application/x-npy\r\n\r\n\x93NUMPY',
  );
  expect(seen.at(-1)).toMatchObject({ sentBytes: RAW.length, totalBytes: RAW.length });
});

test('the same array as a .npy file, as raw bytes and in memory is the same snapshot', async () => {
  const client = clientOf((await startService()).url);
  const values = BigInt64Array.of(-1n, 2n ** 62n);
  const raw = new Uint8Array(values.buffer);
  const { manifestSha256 } = await client.publish(metadataOf(ID), { ids: values });
  for (const input of [
    { path: fileOf(savedArray('int64', raw)) },
    { path: fileOf(savedArray('int64', raw, 3)), dtype: 'int64' },
    { path: fileOf(savedArray('int64', raw), 'no-ending'), format: 'npy' },
    { path: fileOf(raw), format: 'raw', dtype: 'int64' },
  ] as const) {
    for (const declareDigests of [true, false]) {
      const again = await client.publish(
        metadataOf(ID),
        { ids: input },
        { ifExists: 'confirm', declareDigests },
      );
      expect(again).toMatchObject({ outcome: 'confirmed', manifestSha256 });
    }
  }
});

describe('what the service would refuse is refused before anything is sent', () => {
  const eight = pattern(8);
  const typed = (descr: string, shape = '(1,)') => npyFile({ header: npyDict(descr, shape), payload: eight });
  test.each([
    [
      'two dimensions',
      typed(`'<i4'`, '(2, 1)'),
      `shape (2, 1); arrays are one-dimensional: save a.reshape(-1)`,
    ],
    ['doubles', typed(`'<f8'`), `only integers are kept: save a.astype('<i8') if that loses nothing`],
    ['big-endian', typed(`'>i8'`), `bytes must be little-endian: save a.astype('<i8')`],
    ['raw bytes', pattern(256), 'does not begin like a .npy file; send it as application/octet-stream'],
    ['half a header', savedArray('int64', eight).subarray(0, 100), 'ends within its header'],
    [
      'a payload too short',
      savedArray('int64', eight).subarray(0, -1),
      'holds 7 bytes of payload; its header announces 8',
    ],
    [
      'a payload too long',
      Buffer.concat([savedArray('int64', eight), eight]),
      'holds 16 bytes of payload; its header announces 8',
    ],
  ])('%s', async (_, bytes, advice) => {
    const proxy = await faultyProxy('http://127.0.0.1:9', []);
    const publishing = clientOf(proxy.url).publish(metadataOf(ID), { ids: { path: fileOf(bytes) } });
    await expect(publishing).rejects.toThrow(advice);
    await expect(publishing).rejects.toThrow(/^arrays\.ids: /u);
    await expect(publishing).rejects.toBeInstanceOf(ArrayMismatchError);
    expect(proxy.requests).toEqual([]);
  });

  test('a dtype that the header contradicts', async () => {
    const client = clientOf('http://127.0.0.1:9');
    const path = fileOf(savedArray('int64', eight));
    await expect(client.publish(metadataOf(ID), { ids: { path, dtype: 'uint16' } })).rejects.toThrow(
      /is given as uint16, but the header of .*ids\.npy says int64; leave the dtype out, or save a\.astype\('<u2'\)\.$/u,
    );
    const document = { snapshot: metadataOf(ID), arrays: { ids: { dtype: 'uint64' } } };
    await expect(client.publish(document, { ids: { path } })).rejects.toBeInstanceOf(ContractViolationError);
  });
});
