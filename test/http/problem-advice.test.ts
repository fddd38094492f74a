/** Every refusal says what was expected or what to do, in the sentence that people and the command get to see. */
import fs from 'node:fs';
import { expect, test } from 'vitest';

import { SnapshotError, type ErrorCode } from '../../src/contract/errors.ts';
import { PROBLEMS } from '../../src/contract/problems.ts';
import { problemOf as documentOf } from '../../src/http/problems.ts';
import { ask, problemOf } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { idOf, metadataOf, packagePath } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, post, publish } from '../support/uploads.ts';

const ID = idOf(1);

test.each(Object.keys(PROBLEMS) as ErrorCode[])('%s says what was expected, or what to do', (code) => {
  const { detail, details } = PROBLEMS[code].example;
  const problem = documentOf(new SnapshotError(code, detail, details), 'urn:x', '');
  expect(problem.detail).toMatch(
    /\b(must (be|equal)|expected|correct|choose|are expected|send|use|ask|read it|leave|lists|names|shows|the log|restore|free space|try again|publish (it|the)|call it|wait)\b/iu,
  );
});

test('what the store and the contract refuse is followed by what to do about it', async () => {
  const { url, root } = await appForTest();
  const document = { snapshot: metadataOf(ID), arrays: { ids: { dtype: 'uint64', count: '4' } } };
  const counted = await post(url, Buffer.from(JSON.stringify(document)), [
    { name: 'ids', payload: EXAMPLE_ARRAYS['ids']!.bytes },
  ]);
  expect(problemOf(counted, 'array_mismatch').detail).toBe(
    'arrays.ids.count: is declared 4, but 3 arrived. Nothing was published; correct the arrays or what the ' +
      'metadata declares of them, and publish again.',
  );
  const absent = problemOf(await ask(url, `/snapshots/${ID}`), 'snapshot_not_found');
  expect(absent.detail).toBe(
    `No snapshot ${ID} is published in this store. GET /snapshots lists what is; GET /incomplete shows attempts that did ` +
      'not get there.',
  );
  expect((await publish(url, idOf(2), EXAMPLE_ARRAYS)).status).toBe(201);
  const none = problemOf(await ask(url, `/snapshots/${idOf(2)}/array-other.bin`), 'array_not_found');
  expect(none.detail).toContain('The manifest of the snapshot names the arrays that it has.');
  fs.rmSync(packagePath(root, idOf(2), 'array-ids.bin'));
  const broken = problemOf(await ask(url, `/snapshots/${idOf(2)}`), 'storage_integrity');
  expect(broken.detail).toMatch(
    /array-ids\.bin.*\. Nothing of it is given out: restore the package from a copy/u,
  );
});

test('a limit that the operator can raise says so', async () => {
  const { url } = await appForTest({ settings: { maxArrays: 1 } });
  const refused = problemOf(await publish(url, ID, EXAMPLE_ARRAYS), 'limit_exceeded');
  expect(refused).toMatchObject({ limit: 'arrays', expected: '1' });
  expect(refused.detail).toMatch(/is 1\. Send less, or have the operator raise the limit\.$/u);
});
