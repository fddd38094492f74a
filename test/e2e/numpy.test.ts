/** `.npy` files between the service and numpy itself, where the machine's python3 has it. */
import { spawnSync } from 'node:child_process';
import { beforeAll, beforeEach, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { DTYPE_NAMES } from '../../src/contract/dtypes.ts';
import { ask, jsonOf, problemOf, type Answer } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { idOf, metadataOf } from '../support/stores.ts';
import { MULTIPART } from '../support/uploads.ts';
import { bodyOf } from '../http/multipart-support.ts';

/** Of each dtype the limits, nothing at all, and what lies neither together nor in order; one array of megabytes. */
const taken = DTYPE_NAMES.flatMap((dtype) => [
  [dtype, `array([iinfo('${dtype}').min, 0, 1, iinfo('${dtype}').max], '${dtype}')`] as const,
  [dtype, `zeros(0, '${dtype}')`] as const,
  [dtype, `arange(${dtype === 'int64' ? 1_100_000 : 1_000}).astype('${dtype}')[::-2]`] as const,
]);
const refused = [
  ['arange(3).astype(">i4")', "astype('<i4')"],
  ['array([0.5])', "astype('<i8')"],
  ['array([True])', "astype('u1')"],
  ['zeros((2, 3), "i4")', 'reshape(-1)'],
  ['zeros((2, 3), "i4", order="F")', 'reshape(-1)'],
  ['array(5)', 'reshape(-1)'],
  ['zeros(2, [("x", "<i4"), ("y", "<f4")])', "a['name'].copy()"],
  ['array([{}], dtype=object)', "astype('<i8')"],
] as const;
const ALL = [...taken.map(([, expression]) => expression), ...refused.map(([expression]) => expression)];

/** By expression, in base64: the files in the three versions of the format, and the elements' bytes. */
const WRITE = `
import base64, io, json, sys
from numpy import *
made = {}
for expression in json.load(sys.stdin):
    a = eval(expression)
    files = []
    for version in (1, 0), (2, 0), (3, 0):
        lib.format.write_array(file := io.BytesIO(), a, version=version)
        files.append(base64.b64encode(file.getvalue()).decode())
    save(file := io.BytesIO(), a)
    assert base64.b64decode(files[0]) == file.getvalue()
    made[expression] = {'files': files, 'raw': base64.b64encode(a.tobytes()).decode()}
json.dump(made, sys.stdout)
`;
/** The expressions whose file does not load to the very same array. */
const LOAD = `
import base64, io, json, sys
from numpy import *
differ = []
for expression, file in json.load(sys.stdin).items():
    a, b = eval(expression), load(io.BytesIO(base64.b64decode(file)), allow_pickle=False)
    if a.dtype != b.dtype or a.shape != b.shape or not array_equal(a, b): differ.append(expression)
json.dump(differ, sys.stdout)
`;

function python(program: string, input: unknown): unknown {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    maxBuffer: 512 * 1024 * 1024,
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const withNumpy = spawnSync('python3', ['-c', 'import numpy'], { stdio: 'ignore' }).status === 0;
let made: Record<string, { files: string[]; raw: string }>;
beforeAll(() => {
  if (withNumpy) made = python(WRITE, ALL) as typeof made;
  // Most reporters count what was skipped and say no more.
  else console.warn('numpy was not tried: python3 cannot import it here');
});
beforeEach(({ skip }) => {
  skip(!withNumpy, 'python3 cannot import numpy here');
});

function publish(url: string, id: string, file: Buffer): Promise<Answer> {
  const document = JSON.stringify({ snapshot: metadataOf(id), arrays: { a: {} } });
  const body = bodyOf([
    { name: 'metadata', payload: document },
    { name: 'a', payload: file, fileName: 'a.npy', headers: ['Content-Type: application/x-npy'] },
  ]);
  return ask(url, '/snapshots', { method: 'POST', headers: { 'content-type': MULTIPART }, body });
}

test('what numpy writes is taken, in every version, and given back as the bytes of numpy.save', async () => {
  const { url } = await appForTest();
  const given: Record<string, string> = {};
  for (const [position, [dtype, expression]] of taken.entries()) {
    const { files, raw: encoded } = made[expression]!;
    const raw = Buffer.from(encoded, 'base64');
    for (const [version, file] of files.entries()) {
      const id = idOf(3 * position + version);
      const published = await publish(url, id, Buffer.from(file, 'base64'));
      expect([published.status, expression]).toEqual([201, expression]);
      expect(jsonOf(published).arrays.a).toMatchObject({ dtype, sha256: sha256Hex(raw) });
      const back = await ask(url, `/snapshots/${id}/array-a.npy`);
      expect(back.body.equals(Buffer.from(files[0]!, 'base64'))).toBe(true);
      given[expression] = back.body.toString('base64');
    }
    expect((await ask(url, `/snapshots/${idOf(3 * position)}/array-a.bin`)).body.equals(raw)).toBe(true);
  }
  expect(Object.keys(given)).toHaveLength(taken.length);
  expect(python(LOAD, given)).toEqual([]);
}, 240_000);

test.each(refused)('%s is refused with what to do', async (expression, advice) => {
  const { url } = await appForTest();
  for (const file of made[expression]!.files) {
    const problem = problemOf(await publish(url, idOf(1), Buffer.from(file, 'base64')), 'array_mismatch');
    expect(problem.detail).toContain(advice);
  }
});
