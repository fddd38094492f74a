/** However many publish one id at once, one snapshot comes of it, and it never changes. */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { ask, jsonOf, problemOf } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { attemptsOf, idOf, pattern, treeOf } from '../support/stores.ts';
import { publish } from '../support/uploads.ts';

const WRITERS = Array.from({ length: 16 }, (_, index) => index);

test.each([
  ['different bytes', (writer: number) => pattern(300_000, writer + 1)],
  ['identical bytes', () => pattern(300_000)],
])(
  'sixteen publications of one id with %s at once yield one 201, and fifteen refusals',
  async (_, payload) => {
    const { url, root } = await appForTest();
    const id = idOf(1);
    const answers = await Promise.all(
      WRITERS.map((writer) => publish(url, id, { values: { dtype: 'uint8', bytes: payload(writer) } })),
    );
    const winners = WRITERS.filter((writer) => answers[writer]!.status === 201);
    expect(winners).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 201) continue;
      const { code } = jsonOf(answer);
      const problem = problemOf(answer, code);
      expect(['publication_in_progress', 'snapshot_exists']).toContain(code);
      expect(problem.snapshot_id).toBe(id);
      if (code === 'publication_in_progress') expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/u);
    }
    const bytes = payload(winners[0]!);
    expect((await ask(url, `/snapshots/${id}/array-values.bin`)).body.equals(bytes)).toBe(true);

    const before = treeOf(join(root, 'snapshots'));
    const again = await publish(url, id, { values: { dtype: 'uint8', bytes: pattern(10) } });
    expect(problemOf(again, 'snapshot_exists')).toMatchObject({
      location: `/snapshots/${id}`,
      manifest_sha256: /[0-9a-f]{64}/u.exec(answers[winners[0]!]!.headers.etag!)![0],
    });
    expect(treeOf(join(root, 'snapshots'))).toEqual(before);
    // The lock of an id fails before anything is staged.
    expect(attemptsOf(root)).toEqual([]);
  },
);

test('publications of different ids at once do not know of each other', async () => {
  const { url, root } = await appForTest();
  const answers = await Promise.all(
    WRITERS.map((writer) =>
      publish(url, idOf(writer), { values: { dtype: 'uint8', bytes: pattern(100_000, writer + 1) } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(WRITERS.map(() => 201));
  for (const writer of WRITERS) {
    const { body } = await ask(url, `/snapshots/${idOf(writer)}/array-values.bin`);
    expect(body.equals(pattern(100_000, writer + 1))).toBe(true);
  }
  expect(fs.readdirSync(join(root, 'snapshots'))).toHaveLength(WRITERS.length);
});

test('a reader meets a snapshot whole or not at all', async () => {
  const { url } = await appForTest();
  const id = idOf(1);
  const bytes = pattern(1_000_000);
  const writing = { over: false };
  const statuses = new Set<number>();
  const reading = (async () => {
    while (!writing.over) {
      const answer = await ask(url, `/snapshots/${id}/array-values.bin`);
      statuses.add(answer.status);
      if (answer.status === 200) expect(answer.body.equals(bytes)).toBe(true);
      expect((await ask(url, '/snapshots')).status).toBe(200);
      expect((await ask(url, '/incomplete')).status).toBe(200);
    }
  })();
  expect((await publish(url, id, { values: { dtype: 'uint8', bytes } })).status).toBe(201);
  writing.over = true;
  await reading;
  expect([...statuses].filter((status) => status !== 404 && status !== 200)).toEqual([]);
  expect((await ask(url, `/snapshots/${id}/array-values.bin`)).body.equals(bytes)).toBe(true);
});
