/** Arrays as `.npy` files, in and out: what is stored is the raw bytes alone. */
import fs from 'node:fs';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { DTYPE_NAMES, DTYPES, type Dtype } from '../../src/contract/dtypes.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { readNpy } from '../../src/contract/npy.ts';
import { npyHeader } from '../../src/contract/npy-header.ts';
import { ask, expectProblemHeaders, jsonOf, pathsOf, problemOf, type Answer } from '../support/http.ts';
import { DESCR, npyDict, npyFile, savedArray } from '../support/npy-files.ts';
import { pausedDownload } from '../support/paused-download.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { attemptsOf, collect, idOf, inPieces, metadataOf, packagePath, pattern } from '../support/stores.ts';
import { bytesOf, MULTIPART } from '../support/uploads.ts';
import { bodyOf, type PartToSend } from './multipart-support.ts';

const NPY = 'application/x-npy';
const MIB = 1024 * 1024;

/** Smallest, largest and something between, so that width, sign and byte order all show. */
function extremesOf(dtype: Dtype): Buffer {
  const { width, signed, arrayType } = DTYPES[dtype];
  const bits = BigInt(8 * width);
  const [least, most] = signed ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n];
  const values = [least, 1n, most / 3n, most];
  return bytesOf(
    width === 8
      ? new (arrayType as BigInt64ArrayConstructor)(values)
      : new (arrayType as Int32ArrayConstructor)(values.map(Number)),
  );
}

let service: RunningApp;
beforeAll(async () => {
  service = await startApp();
});
afterAll(() => service.close());

let ids = 0;
const freshId = (): string => idOf((ids += 1));

interface Part {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type?: string | null;
  readonly fileName?: string;
}

function uploadBody(id: string, arrays: Record<string, unknown>, parts: readonly Part[]): Buffer {
  const document = JSON.stringify({ snapshot: metadataOf(id), arrays });
  return bodyOf([
    { name: 'metadata', payload: document },
    ...parts.map(({ name, bytes, type = NPY, fileName }): PartToSend => ({
      name,
      payload: Buffer.from(bytes),
      fileName: fileName ?? (type === NPY ? 'a.npy' : 'a.bin'),
      headers: type === null ? [] : [`Content-Type: ${type}`],
    })),
  ]);
}

function publishNpy(
  id: string,
  arrays: Record<string, unknown>,
  parts: readonly Part[],
  url = service.url,
): Promise<Answer> {
  const body = uploadBody(id, arrays, parts);
  return ask(url, '/snapshots', { method: 'POST', headers: { 'content-type': MULTIPART }, body });
}

const get = (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  url = service.url,
): Promise<Answer> => ask(url, `/snapshots/${path}`, { method, headers });

describe('a .npy part', () => {
  test.each(DTYPE_NAMES)(
    'of %s is stored raw and comes back as the file numpy.save writes',
    async (dtype) => {
      const id = freshId();
      const raw = extremesOf(dtype);
      const answer = await publishNpy(id, { a: {} }, [{ name: 'a', bytes: savedArray(dtype, raw) }]);
      expect(answer.status).toBe(201);
      expect(jsonOf(answer).arrays.a).toEqual({
        file: 'array-a.bin',
        dtype,
        count: '4',
        byte_length: String(raw.length),
        endianness: 'little',
        sha256: sha256Hex(raw),
      });
      expect(fs.readFileSync(packagePath(service.root, id, 'array-a.bin')).equals(raw)).toBe(true);
      expect((await get(`${id}/array-a.bin`)).body.equals(raw)).toBe(true);
      const file = await get(`${id}/array-a.npy`);
      expect(file.status).toBe(200);
      expect(file.body.equals(savedArray(dtype, raw))).toBe(true);
    },
  );

  test.each([1, 2, 3] as const)('may be of format version %i.0', async (version) => {
    const raw = extremesOf('int32');
    const answer = await publishNpy(freshId(), { a: {} }, [
      { name: 'a', bytes: savedArray('int32', raw, version) },
    ]);
    expect(answer.status).toBe(201);
    expect(jsonOf(answer).arrays.a).toMatchObject({ dtype: 'int32', sha256: sha256Hex(raw) });
  });

  test.each([
    ['a', 'a'],
    ['array-a.bin', 'a'],
    ['array-a.npy', 'a'],
    ['array-constructor.npy', 'constructor'],
  ])('may be named %s', async (name, key) => {
    const bytes = savedArray('int16', extremesOf('int16'));
    const answer = await publishNpy(freshId(), { [key]: {} }, [{ name, bytes }]);
    expect(answer.status).toBe(201);
    expect(Object.keys(jsonOf(answer).arrays)).toEqual([key]);
  });

  test('may stand beside raw parts, and its media type may have any case and parameters', async () => {
    const raw = extremesOf('int64');
    const answer = await publishNpy(freshId(), { a: {}, b: { dtype: 'int64' } }, [
      { name: 'b', bytes: raw, type: 'application/octet-stream' },
      { name: 'a', bytes: savedArray('int64', raw), type: 'Application/X-NPY; version=1' },
    ]);
    expect(answer.status).toBe(201);
    const { arrays } = jsonOf(answer);
    expect([arrays.a.sha256, arrays.b.sha256]).toEqual([sha256Hex(raw), sha256Hex(raw)]);
  });

  test('of no elements is an empty array, and comes back as one', async () => {
    const id = freshId();
    const empty = savedArray('uint64', Buffer.alloc(0));
    expect((await publishNpy(id, { a: {} }, [{ name: 'a', bytes: empty }])).status).toBe(201);
    expect(fs.statSync(packagePath(service.root, id, 'array-a.bin')).size).toBe(0);
    expect((await get(`${id}/array-a.npy`)).body.equals(empty)).toBe(true);
  });

  test('is judged by everything declared: what agrees is accepted', async () => {
    const raw = extremesOf('uint16');
    const declared = { dtype: 'uint16', count: '4', byte_length: '8', sha256: sha256Hex(raw) };
    const bytes = savedArray('uint16', raw);
    expect((await publishNpy(freshId(), { a: declared }, [{ name: 'a', bytes }])).status).toBe(201);
  });

  test.each([
    ['dtype', { dtype: 'int16' }, 'is declared int16 but the payload holds uint16'],
    ['count', { count: '5' }, 'is declared 5, but 4 arrived'],
    ['byte_length', { byte_length: '9' }, 'is declared 9, but 8 arrived'],
    ['sha256', { sha256: '0'.repeat(64) }, /^is declared 0{64}, but [0-9a-f]{64} arrived$/u],
  ])('is judged by everything declared: another %s is refused', async (field, declared, message) => {
    const bytes = savedArray('uint16', extremesOf('uint16'));
    const problem = problemOf(
      await publishNpy(freshId(), { a: declared }, [{ name: 'a', bytes }]),
      'array_mismatch',
    );
    expect(problem.errors).toEqual([
      {
        path: `arrays.a.${field}`,
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      },
    ]);
  });

  test('arrives whole however the network cuts it, one byte at a time too', async () => {
    const raw = extremesOf('int64');
    const body = uploadBody(freshId(), { a: {} }, [{ name: 'a', bytes: savedArray('int64', raw) }]);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const headers = { 'content-type': MULTIPART };
      const request = httpRequest(
        { hostname, port, path: '/snapshots', method: 'POST', headers, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      request.on('error', reject).setNoDelay(true);
      const sendFrom = (at: number): void => {
        if (at === body.length) request.end();
        else request.write(body.subarray(at, at + 1), () => sendFrom(at + 1));
      };
      sendFrom(0);
    });
    expect(status).toBe(201);
  });
});

describe('a .npy header', () => {
  const raw = extremesOf('int16');
  const read = async (file: Uint8Array, ...sizes: number[]) => {
    const { dtype, chunks } = await readNpy(inPieces(file, ...sizes), 'arrays.a');
    return { dtype, bytes: await collect(chunks) };
  };

  test.each([1, 2, 3] as const)('of version %i is read in pieces of any size', async (version) => {
    const file = savedArray('int16', raw, version);
    for (const sizes of [[1], [7], [1, 64], [127, 1], [128, 3], [file.length]]) {
      expect(await read(file, ...sizes)).toEqual({ dtype: 'int16', bytes: raw });
    }
  });

  test.each([
    ['keys in another order', `{'shape': (4,), 'fortran_order': False, 'descr': '<i2'}`],
    ['no comma at the end', `{'descr': '<i2', 'fortran_order': False, 'shape': (4,)}`],
    ['no blanks', `{'descr':'<i2','fortran_order':False,'shape':(4,),}`],
    ['many blanks', `  {  'descr'  :\t'<i2' ,\n 'fortran_order' : False , 'shape' :  ( 4 , ) , }  \n`],
    ['double quotes', `{"descr": "<i2", "fortran_order": False, "shape": (4,)}`],
    ['a long integer of Python 2', `{'descr': '<i2', 'fortran_order': False, 'shape': (4L,), }`],
    ['columns first, which is the same in one dimension', npyDict(`'<i2'`, '(4,)', 'True')],
    ['the longest header that is read', npyDict(`'<i2'`, '(4,)').padEnd(9_973)],
  ])('with %s is read', async (_what, header) => {
    expect(await read(npyFile({ header, payload: raw }), 50)).toEqual({ dtype: 'int16', bytes: raw });
  });

  test.each(['<', '>', '=', '|'])(
    'of single bytes in the order %s is read: they have none',
    async (order) => {
      const file = npyFile({ header: npyDict(`'${order}u1'`, '(8,)'), payload: raw });
      expect(await read(file)).toEqual({ dtype: 'uint8', bytes: raw });
    },
  );

  test.each(DTYPE_NAMES)('that is written for %s begins the payload on a multiple of 64', (dtype) => {
    for (const count of ['0', '1', '4', String(2 ** 53), String(2n ** 61n - 1n)]) {
      const header = npyHeader(dtype, count);
      expect(header.length % 64).toBe(0);
      expect(header.toString('latin1')).toBe(
        npyFile({ header: npyDict(`'${DESCR[dtype]}'`, `(${count},)`), payload: Buffer.alloc(0) }).toString(
          'latin1',
        ),
      );
    }
  });
});

describe('a .npy part is refused with what to do', () => {
  const eight = Buffer.alloc(8, 1);
  const typed = (descr: string, shape = '(1,)', order: 'True' | 'False' = 'False'): Buffer =>
    npyFile({ header: npyDict(descr, shape, order), payload: eight });
  const written = (header: string): Buffer => npyFile({ header, payload: eight });
  const good = savedArray('int64', eight);
  const version = (major: number): Buffer =>
    Buffer.concat([good.subarray(0, 6), Buffer.of(major), good.subarray(7)]);

  test.each([
    ['big-endian integers', typed(`'>i8'`), `type '>i8'; bytes must be little-endian: save a.astype('<i8')`],
    ['big-endian naturals', typed(`'>u2'`, '(4,)'), `must be little-endian: save a.astype('<u2')`],
    [
      'doubles',
      typed(`'<f8'`),
      `type '<f8'; only integers are kept: save a.astype('<i8') if that loses nothing`,
    ],
    ['dates', typed(`'<M8[ns]'`), `save for example a.astype('<i8')`],
    ['booleans', typed(`'|b1'`, '(8,)'), `save a.astype('u1')`],
    ['complex numbers', typed(`'<c8'`), `only integers of 8 to 64 bits are kept`],
    ['text', typed(`'<U2'`), `only integers of 8 to 64 bits are kept`],
    ['objects', typed(`'|O'`), `only integers of 8 to 64 bits are kept`],
    ['integers of 128 bits', typed(`'<i16'`), `only integers of 8 to 64 bits are kept`],
    ['the order of whichever machine', typed(`'=i8'`), `only integers of 8 to 64 bits are kept`],
    ['a structure', typed(`[('x', '<i4'), ('y', '<f4')]`), `send each field as an array of its own`],
    ['a nested structure', typed(`[('x', [('y', '<i4', (2,))])]`), `send each field as an array of its own`],
    [
      'two dimensions',
      typed(`'<i4'`, '(2, 1)'),
      `shape (2, 1); arrays are one-dimensional: save a.reshape(-1)`,
    ],
    [
      'two dimensions, columns first',
      typed(`'<i4'`, '(2, 1)', 'True'),
      `one-dimensional: save a.reshape(-1)`,
    ],
    ['no dimension', typed(`'<i8'`, '()'), `shape (); arrays are one-dimensional: save a.reshape(-1)`],
    [
      'a number for a shape',
      written(npyDict(`'<i8'`, '1')),
      'a header that cannot be read; save it with numpy.save',
    ],
    ['a negative length', written(npyDict(`'<i8'`, '(-1,)')), 'header that cannot be read'],
    ['brackets without a comma', written(npyDict(`'<i8'`, '(1)')), `shape (1)`],
    [
      'another fortran_order',
      written(npyDict(`'<i8'`, '(1,)').replace('False', `'False'`)),
      'cannot be read',
    ],
    ['no descr', written(`{'fortran_order': False, 'shape': (1,)}`), 'cannot be read'],
    ['no shape', written(`{'fortran_order': False, 'descr': '<i8'}`), 'cannot be read'],
    ['no fortran_order', written(`{'descr': '<i8', 'shape': (1,)}`), 'cannot be read'],
    [
      'a key twice',
      written(`{'descr': '<i4', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}`),
      'cannot be read',
    ],
    [
      'another key',
      written(`{'descr': '<i8', 'fortran_order': False, 'shape': (1,), 'x': True}`),
      'cannot be read',
    ],
    ['something after the dict', written(`${npyDict(`'<i8'`, '(1,)')} x`), 'cannot be read'],
    ['something to evaluate', written(npyDict(`'<i8'`, '(len("x"),)')), 'cannot be read'],
    ['an empty header', written(''), 'cannot be read'],
    [
      'a header beyond 10,000 bytes',
      written(npyDict(`'<i8'`, '(1,)').padEnd(10_001)),
      'at most 10000 are read',
    ],
    ['version 0', version(0), 'is of .npy version 0; save it as version 1.0, 2.0 or 3.0'],
    ['version 4', version(4), 'is of .npy version 4; save it as version 1.0, 2.0 or 3.0'],
    ['raw bytes', pattern(256), 'does not begin like a .npy file; send it as application/octet-stream'],
    ['an archive of arrays', Buffer.from('PK\x03\x04 and more'), 'does not begin like a .npy file'],
    ['nothing', Buffer.alloc(0), 'ends within its header; send a whole .npy file, as numpy.save writes it'],
    ['half a magic', good.subarray(0, 4), 'ends within its header'],
    ['half a length', good.subarray(0, 9), 'ends within its header'],
    ['half a header', good.subarray(0, 100), 'ends within its header'],
    ['a payload too short', good.subarray(0, -1), 'announces 8 bytes of payload, but 7 arrived'],
    ['no payload', good.subarray(0, 128), 'announces 8 bytes of payload, but 0 arrived'],
    [
      'a payload too long',
      Buffer.concat([good, Buffer.of(0)]),
      'announces 8 bytes of payload, but more arrived',
    ],
  ])('%s', async (_what, bytes, advice) => {
    const id = freshId();
    const problem = problemOf(await publishNpy(id, { a: {} }, [{ name: 'a', bytes }]), 'array_mismatch');
    expect(problem.detail).toContain(advice);
    expect(problem.detail).toMatch(/^arrays\.a: /u);
    expect(pathsOf(problem)).toEqual(['arrays.a']);
    problemOf(await get(id), 'snapshot_not_found');
  });

  test('a payload that runs on is refused before the rest of it is stored', async () => {
    const { url, root } = await appForTest();
    // More than a first piece holds, so that both the first and a later one are judged.
    const bytes = Buffer.concat([savedArray('int64', Buffer.alloc(MIB / 4)), Buffer.alloc(8 * MIB)]);
    problemOf(await publishNpy(idOf(1), { a: {} }, [{ name: 'a', bytes }], url), 'array_mismatch');
    const [attempt = ''] = attemptsOf(root);
    expect(fs.statSync(`${root}/staging/${attempt}/array-a.bin`).size).toBeLessThan(MIB);
  });

  test('raw bytes whose dtype nobody says', async () => {
    const part = { name: 'a', bytes: eight, type: 'application/octet-stream' };
    const problem = problemOf(await publishNpy(freshId(), { a: {} }, [part]), 'contract_violation');
    expect(pathsOf(problem)).toEqual(['arrays.a.dtype']);
  });

  test('several arrays whose dtypes nobody says are all named, also those that never arrive', async () => {
    const part = { name: 'a', bytes: eight, type: 'application/octet-stream' };
    const arrays = { a: {}, b: {}, c: { dtype: 'int8' } };
    const raw = problemOf(await publishNpy(freshId(), arrays, [part]), 'contract_violation');
    expect(pathsOf(raw)).toEqual(['arrays.a.dtype', 'arrays.b.dtype']);
    const absent = problemOf(await publishNpy(freshId(), { a: {}, b: {} }, []), 'contract_violation');
    expect(pathsOf(absent)).toEqual(['arrays.a.dtype', 'arrays.b.dtype']);
  });

  test.each([
    ['its part', { name: 'array-a.npy' }],
    ['its file', { name: 'a', fileName: 'ids.npy' }],
    ['its file, in capitals', { name: 'a', fileName: 'IDS.NPY' }],
  ])('raw bytes under the name of one: %s', async (_, named) => {
    const part = { ...named, bytes: eight, type: 'application/octet-stream' };
    const problem = problemOf(
      await publishNpy(freshId(), { a: { dtype: 'int64' } }, [part]),
      'array_mismatch',
    );
    expect(problem.detail).toContain('does not begin like a .npy file');
    expect(pathsOf(problem)).toEqual(['arrays.a']);
  });

  test('one array as .npy and as raw bytes', async () => {
    const parts = [
      { name: 'a', bytes: good },
      { name: 'array-a.bin', bytes: eight, type: 'application/octet-stream' },
    ];
    const problem = problemOf(await publishNpy(freshId(), { a: {} }, parts), 'array_mismatch');
    expect(problem.errors).toEqual([
      { path: 'arrays.a', message: 'arrived twice; send exactly one part per array' },
    ]);
  });
});

describe('GET and HEAD of array-<key>.npy', () => {
  const id = idOf(0xabc);
  /** From memory, and in three blocks of 1 MiB at most. */
  const payloads: Readonly<Record<string, Buffer>> = {
    small: extremesOf('int64'),
    large: Buffer.from(pattern(2 * MIB + 8 * 1024)),
  };
  const fileOf = (key: string): Buffer => savedArray('int64', payloads[key]!);

  beforeAll(async () => {
    const parts = Object.keys(payloads).map((name) => ({ name, bytes: fileOf(name) }));
    expect((await publishNpy(id, { small: {}, large: {} }, parts)).status).toBe(201);
  });

  describe.each(['small', 'large'])('%s', (key) => {
    const path = `${id}/array-${key}.npy`;
    const file = fileOf(key);
    const etag = `"${sha256Hex(payloads[key]!)}.npy"`;

    test('the file, and what it is', async () => {
      const whole = await get(path);
      expect(whole.status).toBe(200);
      expect(whole.body.equals(file)).toBe(true);
      const described = {
        'content-type': NPY,
        'content-length': String(file.length),
        etag,
        'accept-ranges': 'bytes',
        'array-dtype': 'int64',
        'array-count': String(payloads[key]!.length / 8),
        'array-endianness': 'little',
        'content-disposition': `attachment; filename="array-${key}.npy"`,
      };
      expect(whole.headers).toMatchObject(described);
      // The digest that is known is that of the raw bytes, which these are not.
      expect(whole.headers).not.toHaveProperty('repr-digest');
      expect((await get(path, { 'want-repr-digest': 'sha-512=3' })).headers).not.toHaveProperty(
        'repr-digest',
      );
      expect((await get(path, { 'want-repr-digest': 'sha-256=0' })).headers).not.toHaveProperty(
        'repr-digest',
      );
      const head = await get(path, {}, 'HEAD');
      expect(head.status).toBe(200);
      expect(head.headers).toMatchObject(described);
      expect(head.body.length).toBe(0);
      expect((await get(path.replace('.npy', '.bin'))).headers.etag).not.toBe(etag);
    });

    test('its digest for whoever asks, whatever part is sent', async () => {
      const digest = `sha-256=:${Buffer.from(sha256Hex(file), 'hex').toString('base64')}:`;
      for (const wish of ['sha-256=10', 'sha-512=3, sha-256=1', 'md5=0,\tsha-256=5 ,x=1']) {
        const whole = await get(path, { 'want-repr-digest': wish });
        expect([whole.headers['repr-digest'], whole.body.equals(file)]).toEqual([digest, true]);
      }
      const asking = { 'want-repr-digest': 'sha-256=10' };
      const part = await get(path, { ...asking, range: 'bytes=100-139' });
      expect([part.status, part.headers['repr-digest']]).toEqual([206, digest]);
      expect(part.body.equals(file.subarray(100, 140))).toBe(true);
      const head = await get(path, asking, 'HEAD');
      expect([head.headers['repr-digest'], head.headers['content-length'], head.body.length]).toEqual([
        digest,
        String(file.length),
        0,
      ]);
      expect((await get(path, { ...asking, 'if-none-match': etag })).status).toBe(304);
    });

    const end = file.length;
    const ranges = [
      [0, 0],
      [0, 127],
      [5, 127],
      [127, 128],
      [128, 128],
      [128, end - 1],
      [100, 140],
      [0, end - 1],
      [0, end - 2],
      [1, end - 1],
      [end - 1, end - 1],
      [MIB - 1, MIB + 128],
      [MIB + 126, MIB + 129],
      [60, 2 * MIB + 200],
    ].filter(([first = 0]) => first < end) as [number, number][];
    test.each(ranges)('bytes %i to %i', async (first, last) => {
      const part = await get(path, { range: `bytes=${first}-${last}` });
      expect(part.status).toBe(206);
      const until = Math.min(last, end - 1);
      expect(part.headers['content-range']).toBe(`bytes ${first}-${until}/${end}`);
      expect(part.headers['content-length']).toBe(String(until - first + 1));
      expect(part.body.equals(file.subarray(first, until + 1))).toBe(true);
    });

    test('the last bytes, and all from a place on', async () => {
      for (const [range, expected] of [
        ['bytes=-1', file.subarray(-1)],
        ['bytes=-24', file.subarray(-24)],
        [`bytes=-${end + 5}`, file],
        ['bytes=100-', file.subarray(100)],
        ['bytes=128-', file.subarray(128)],
      ] as const) {
        const part = await get(path, { range });
        expect(part.status).toBe(206);
        expect(part.body.equals(expected)).toBe(true);
      }
    });

    test('a range outside the file', async () => {
      const answer = await get(path, { range: `bytes=${end}-` });
      problemOf(answer, 'range_not_satisfiable');
      expect(answer.headers['content-range']).toBe(`bytes */${end}`);
    });

    test('conditions by its own tag', async () => {
      const range = 'bytes=100-139';
      const same = await get(path, { range, 'if-range': etag });
      expect([same.status, same.body.equals(file.subarray(100, 140))]).toEqual([206, true]);
      const other = await get(path, { range, 'if-range': etag.replace('.npy', '') });
      expect([other.status, other.body.equals(file)]).toEqual([200, true]);
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await get(path, { 'if-none-match': etag }, method);
        expect([unchanged.status, unchanged.body.length, unchanged.headers.etag]).toEqual([304, 0, etag]);
        expect((await get(path, { 'if-none-match': etag.replace('.npy', '') }, method)).status).toBe(200);
        expect((await get(path, { 'if-match': etag.replace('.npy', '') }, method)).status).toBe(412);
      }
    });
  });

  test('an array or a file that is not there', async () => {
    problemOf(await get(`${id}/array-none.npy`), 'array_not_found');
    for (const name of [
      'array-.npy',
      'array-Small.npy',
      'small.npy',
      'array-small.npz',
      'array-small.npy.npy',
    ]) {
      problemOf(await get(`${id}/${name}`), 'not_found');
    }
  });

  test.each([
    ['the file', {}],
    ['a range of it', { range: 'bytes=1-' }],
    ['a range without its first elements', { range: 'bytes=200-' }],
  ])('%s does not end cleanly when the array changes on the way', async (_what, headers) => {
    const { url, root } = await appForTest();
    const bytes = savedArray('int64', pattern(32 * MIB));
    expect((await publishNpy(idOf(1), { a: {} }, [{ name: 'a', bytes }], url)).status).toBe(201);
    const path = `${url}/snapshots/${idOf(1)}/array-a.npy`;
    expect((await (await pausedDownload(path, headers)).finish()).clean).toBe(true);
    const download = await pausedDownload(path, headers);
    const stored = packagePath(root, idOf(1), 'array-a.bin');
    fs.chmodSync(stored, 0o644);
    const file = fs.openSync(stored, 'r+');
    fs.writeSync(file, Buffer.of(0xff), 0, 1, 32 * MIB - 1);
    fs.closeSync(file);
    expect((await download.finish()).clean).toBe(false);
  });

  test.each(['array-a.bin', 'manifest.json', 'complete.sha256'])(
    'nothing is sent of an array when %s changed',
    async (name) => {
      const { url, root } = await appForTest();
      const bytes = savedArray('int64', payloads['small']!);
      expect((await publishNpy(idOf(1), { a: {} }, [{ name: 'a', bytes }], url)).status).toBe(201);
      const path = `${idOf(1)}/array-a.npy`;
      expect((await get(path, {}, 'GET', url)).status).toBe(200);
      const stored = packagePath(root, idOf(1), name);
      const changed = fs.readFileSync(stored);
      changed[3]! ^= 1;
      fs.chmodSync(stored, 0o644);
      fs.writeFileSync(stored, changed);
      problemOf(await get(path, {}, 'GET', url), 'storage_integrity');
      problemOf(await get(path, { range: 'bytes=0-1' }, 'GET', url), 'storage_integrity');
      const head = await get(path, {}, 'HEAD', url);
      expect(head.status).toBe(500);
      expectProblemHeaders(head);
    },
  );
});

const good = savedArray('int64', Buffer.alloc(8, 3));
const eight = Buffer.alloc(8, 3);

describe('a part is a .npy file', () => {
  const sentAs: Partial<Part>[] = [
    { name: 'array-a.npy', type: 'application/octet-stream' },
    { fileName: 'ids.npy', type: 'application/octet-stream' },
    { fileName: 'ids.npy', type: null },
    { fileName: 'ids.NPY', type: 'text/plain' },
    { type: 'application/x-npy', fileName: 'ids.bin' },
    { type: 'application/x-npy ', fileName: 'ids.bin' },
    { type: 'application/x-npy\t', fileName: 'ids.bin' },
    { type: ' \tapplication/x-npy', fileName: 'ids.bin' },
    { type: 'Application/X-NPY', fileName: 'ids.bin' },
    { type: 'application/x-npy;', fileName: 'ids.bin' },
    { type: 'application/x-npy ; a=b', fileName: 'ids.bin' },
    { type: 'application/x-npy;version=1;;a="b;\\"c" ', fileName: 'ids.bin' },
  ];
  test.each(sentAs)('by its names or its media type: %j', async (sent) => {
    const id = freshId();
    const answer = await publishNpy(id, { a: {} }, [{ name: 'a', bytes: good, ...sent }]);
    expect(answer.status).toBe(201);
    expect((await get(`${id}/array-a.bin`)).body).toEqual(Buffer.from(eight));
  });

  test.each([
    '"application/x-npy"',
    'application/x-npy, text/plain',
    'application/x-npy (numpy)',
    'application / x-npy',
    'application/x-npy application/x-npy',
    'application/x-npy; a',
    'application/x-npy; a=',
    'application/x-npy; a="b',
    'application',
    'application/',
    '/x-npy',
    '',
    `application/x-npy${';a=b'.repeat(65)}`,
  ])('never by what is no media type: %j', async (type) => {
    const id = freshId();
    const parts = [{ name: 'a', bytes: good, type, fileName: 'a.bin' }];
    problemOf(await publishNpy(id, { a: { dtype: 'uint8' } }, parts), 'malformed_multipart');
    problemOf(await get(id), 'snapshot_not_found');
  });
});
