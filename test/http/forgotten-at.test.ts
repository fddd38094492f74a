/** Slips of the hand are recognised in the refusal: a forgotten @ in curl, a null in quotes. */
import { expect, test } from 'vitest';

import type { Json } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { idOf, metadataOf } from '../support/stores.ts';

async function posted(fields: readonly (readonly [string, string | Blob])[]) {
  const { url } = await appForTest();
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  const answer = await fetch(`${url}/snapshots`, { method: 'POST', body: form });
  return { status: answer.status, problem: (await answer.json()) as Json };
}

const documentOf = (arrays: object, changes = {}): string =>
  JSON.stringify({ snapshot: metadataOf(idOf(1), changes), arrays });

test.each(['metadata.json', './metadata.json', '/tmp/capture/meta.json', '../a/metadata', 'm_1.JSON'])(
  'metadata=%s without @ is told what to do',
  async (name) => {
    const { status, problem } = await posted([['metadata', name]]);
    expect(status).toBe(400);
    expect(problem.code).toBe('malformed_json');
    expect(problem.detail).toContain(`-F metadata=@${name}`);
  },
);

test.each(['{', '', '1.5', '"a.json"', '[1.5]', 'a b.json', 'true', `${'a'.repeat(300)}.json`])(
  'metadata that is %j is refused as what it is',
  async (text) => {
    const { status, problem } = await posted([['metadata', text]]);
    expect([400, 422]).toContain(status);
    expect(problem.detail).not.toContain('@');
  },
);

test.each([
  ['of another width', { dtype: 'uint64' }, 'ids'],
  ['of another length', { dtype: 'uint8', count: '3' }, 'ids'],
  ['of another digest', { dtype: 'uint8', sha256: 'a'.repeat(64) }, 'array-ids.bin'],
])('an array that is refused as %s is told that a name arrived', async (_, entry, part) => {
  const { status, problem } = await posted([
    ['metadata', documentOf({ ids: entry })],
    [part, 'data/ids.bin'],
  ]);
  expect(status).toBe(422);
  expect(problem.code).toBe('array_mismatch');
  expect(problem.errors[0].message).toContain(`-F ${part}=@data/ids.bin`);
  expect(problem.detail).toContain('@data/ids.bin');
  expect(problem.attempt).toMatch(/^staging\/|^[0-9a-f]{32}$/u);
});

test('a file that holds such a text is a file, and every byte of a field that fits is payload', async () => {
  const refused = await posted([
    ['metadata', documentOf({ ids: { dtype: 'uint64' } })],
    ['ids', new Blob(['ids.bin'])],
  ]);
  expect(refused.problem.code).toBe('array_mismatch');
  expect(refused.problem.detail).not.toContain('@');
  const { status } = await posted([
    ['metadata', documentOf({ ids: { dtype: 'uint8' } })],
    ['ids', 'ids.bin'],
  ]);
  expect(status).toBe(201);
});

test.each(['null', '', 'None', 'NULL', ' nil ', 'undefined'])(
  'a parent_id of %j is told to be null without quotes',
  async (parent) => {
    const { status, problem } = await posted([['metadata', documentOf({}, { parent_id: parent })]]);
    expect(status).toBe(422);
    expect(problem.errors).toHaveLength(1);
    expect(problem.errors[0].path).toBe('snapshot.parent_id');
    expect(problem.errors[0].message).toContain('null without quotes, or left out');
  },
);

test('a parent_id that is a wrong id is told what an id is', async () => {
  const { problem } = await posted([['metadata', documentOf({}, { parent_id: 'abc' })]]);
  expect(problem.errors[0].message).toContain('32 lowercase hex digits');
});
