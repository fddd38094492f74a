/** Whatever happens to any one file of a package, no route answers with its bytes, and the listing names it. */
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ask, expectProblemHeaders, pathsOf, problemOf } from '../support/http.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf, packagePath, pattern } from '../support/stores.ts';
import { bytesOf, publish } from '../support/uploads.ts';

const ARRAYS = {
  ids: { dtype: 'uint64', bytes: bytesOf(new BigUint64Array([1n, 2n, 3n])) },
  // More than one block: proven and sent in pieces.
  large: { dtype: 'uint8', bytes: pattern(1024 * 1024 + 100) },
  none: { dtype: 'int16', bytes: Buffer.alloc(0) },
};

/** What can happen to a file, whatever it holds. */
const DAMAGES: Readonly<Record<string, (path: string, outside: string) => void>> = {
  'flipped in its first byte': (path) => {
    flip(path, 0);
  },
  'flipped in its last byte': (path) => {
    flip(path, fs.statSync(path).size - 1);
  },
  truncated: (path) => {
    fs.truncateSync(path, fs.statSync(path).size - 1);
  },
  emptied: (path) => {
    fs.truncateSync(path, 0);
  },
  extended: (path) => {
    fs.appendFileSync(path, Buffer.alloc(1));
  },
  missing: (path) => {
    fs.rmSync(path);
  },
  renamed: (path) => {
    fs.renameSync(path, `${path}.old`);
  },
  'accompanied by a copy': (path) => {
    fs.copyFileSync(path, `${path}~`);
  },
  'a link to the same bytes': (path, outside) => {
    fs.renameSync(path, outside);
    fs.symlinkSync(outside, path);
  },
  'a link to a sibling with the same bytes': (path) => {
    fs.renameSync(path, `${path}.real`);
    fs.symlinkSync(`${path}.real`, path);
  },
  'a directory': (path) => {
    fs.rmSync(path);
    fs.mkdirSync(path);
  },
};

function flip(path: string, position: number): void {
  const bytes = fs.readFileSync(path);
  bytes[position]! ^= 0x20;
  fs.writeFileSync(path, bytes);
}

const FILES = {
  'a small payload': 'array-ids.bin',
  'a large payload': 'array-large.bin',
  'an empty payload': 'array-none.bin',
  'the manifest': 'manifest.json',
  'the marker': 'complete.sha256',
  'the intent': 'intent.json',
} as const;

interface Case {
  readonly what: string;
  readonly file: string;
  readonly damage: string;
  readonly id: string;
}

/** An empty file cannot be flipped or cut, and a package is whole without its intent. */
const IMPOSSIBLE = (file: string, damage: string): boolean =>
  (file === 'array-none.bin' && /flipped|truncated|emptied/u.test(damage)) ||
  (file === 'intent.json' && damage === 'missing');

const cases: Case[] = Object.entries(FILES)
  .flatMap(([what, file]) => Object.keys(DAMAGES).map((damage) => ({ what, file, damage })))
  .filter(({ file, damage }) => !IMPOSSIBLE(file, damage))
  .map((one, index) => ({ ...one, id: idOf(index + 16) }));

let service: RunningApp;
const etags = new Map<string, string>();

beforeAll(async () => {
  service = await startApp();
  for (const { id, file, damage } of cases) {
    expect((await publish(service.url, id, ARRAYS)).status).toBe(201);
    for (const path of ['', '/complete.sha256', '/array-ids.bin', '/array-large.bin', '/array-none.bin']) {
      const { headers } = await ask(service.url, `/snapshots/${id}${path}`, { method: 'HEAD' });
      etags.set(id + path, headers.etag!);
    }
    DAMAGES[damage]!(packagePath(service.root, id, file), join(service.root, `outside-${id}`));
  }
  expect((await publish(service.url, idOf(1), ARRAYS)).status).toBe(201);
});
afterAll(() => service.close());

describe.each(cases)('a package of which $what is $damage', ({ id, file, damage }) => {
  // Payload bytes that another array's answer does not need are proven when they are asked for, or with everything.
  const isPayload = file.startsWith('array-');
  const onlyItsBytes = isPayload && damage.startsWith('flipped');
  const arrays = Object.keys(ARRAYS).map((key) => `/array-${key}.bin`);
  const refused = ['', '/manifest.json', '/complete.sha256', '/package.tar'].concat(
    onlyItsBytes ? [`/${file}`, `/${file.replace('.bin', '.npy')}`] : arrays,
  );

  test('is refused on every route before the first byte, whatever the client has or wants', async () => {
    for (const path of refused) {
      for (const headers of [{}, { 'if-none-match': etags.get(id + path) ?? '*' }, { range: 'bytes=0-0' }]) {
        const problem = problemOf(
          await ask(service.url, `/snapshots/${id}${path}`, { headers }),
          'storage_integrity',
        );
        expect(problem.snapshot_id).toBe(id);
      }
      const head = await ask(service.url, `/snapshots/${id}${path}`, { method: 'HEAD' });
      expect(head.status).toBe(500);
      expectProblemHeaders(head);
    }
  });

  test('cannot be a parent, and cannot be published over', async () => {
    const child = await publish(service.url, idOf(2), ARRAYS, { parent_id: id });
    expect(problemOf(child, 'parent_not_complete').parent_id).toBe(id);
    problemOf(await publish(service.url, id, ARRAYS), 'snapshot_exists');
  });

  if (onlyItsBytes) {
    test('still gives the arrays that can be proven', async () => {
      for (const [key, { bytes }] of Object.entries(ARRAYS)) {
        if (file === `array-${key}.bin`) continue;
        const answer = await ask(service.url, `/snapshots/${id}/array-${key}.bin`);
        expect([answer.status, answer.body.equals(bytes)]).toEqual([200, true]);
      }
    });
  }
});

test('the listing names every damaged package, and only those', async () => {
  const problem = problemOf(await ask(service.url, '/snapshots'), 'storage_integrity');
  expect(pathsOf(problem)).toEqual(cases.map(({ id }) => id).sort());
});

test('a damaged package does not hurt its neighbours', async () => {
  expect((await ask(service.url, `/snapshots/${idOf(1)}`)).status).toBe(200);
});

test('a package is whole without its intent', async () => {
  const id = idOf(3);
  expect((await publish(service.url, id, ARRAYS)).status).toBe(201);
  fs.rmSync(packagePath(service.root, id, 'intent.json'));
  expect((await ask(service.url, `/snapshots/${id}`)).status).toBe(200);
});
