/** One structured line per request, that says who asked for what, and how it ended. */
import { expect, test } from 'vitest';

import { ask, jsonOf, problemOf } from '../support/http.ts';
import { appForTest, type LogLine, type RunningApp } from '../support/service.ts';
import { idOf, pattern } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish } from '../support/uploads.ts';

/** The request lines so far, once there are `count`: a line is written when its connection has taken everything. */
async function requestLines({ logs }: RunningApp, count: number): Promise<LogLine[]> {
  for (let turn = 0; turn < 200; turn += 1) {
    const lines = logs.filter(({ msg }) => msg === 'request');
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Fewer than ${count} request lines were written.`);
}

test('a publication and a read are one line each, with their snapshot, bytes, duration and outcome', async () => {
  const service = await appForTest();
  const id = idOf(1);
  const bytes = pattern(200_000);
  expect((await publish(service.url, id, { values: { dtype: 'uint8', bytes } })).status).toBe(201);
  expect(
    (await ask(service.url, `/snapshots/${id}/array-values.bin`, { headers: { 'user-agent': 'a reader' } }))
      .status,
  ).toBe(200);
  const lines = await requestLines(service, 2);
  expect(lines).toHaveLength(2);
  const [created, read] = lines;
  expect(created).toMatchObject({
    method: 'POST',
    path: '/snapshots',
    status: 201,
    snapshot_id: id,
    remote: '127.0.0.1',
    ended: 'answered',
    reqId: expect.stringMatching(/^[0-9a-f-]{36}$/u),
    duration_ms: expect.any(Number),
    level: 30,
  });
  expect(created!['bytes_in']).toBeGreaterThan(bytes.length);
  expect(created!['duration_ms']).toBeGreaterThan(0);
  expect(read).toMatchObject({
    method: 'GET',
    path: `/snapshots/${id}/array-values.bin`,
    status: 200,
    user_agent: 'a reader',
  });
  expect(read!['bytes_out']).toBeGreaterThan(bytes.length);
  expect(read!['reqId']).not.toBe(created!['reqId']);
});

test('a refusal is found in the log by the instance of its problem document', async () => {
  const service = await appForTest();
  const id = idOf(1);
  await publish(service.url, id, EXAMPLE_ARRAYS);
  const exists = problemOf(await publish(service.url, id, EXAMPLE_ARRAYS), 'snapshot_exists');
  const mismatch = problemOf(
    await publish(service.url, idOf(2), { ids: { ...EXAMPLE_ARRAYS['ids']!, name: 'other' } }),
    'array_mismatch',
  );
  const lines = await requestLines(service, 3);
  const lineOf = (problem: { instance: string }): LogLine =>
    lines.find(({ reqId }) => problem.instance === `urn:request:${reqId}`)!;
  expect(lineOf(exists)).toMatchObject({ status: 409, code: 'snapshot_exists', snapshot_id: id });
  expect(lineOf(mismatch)).toMatchObject({ status: 422, code: 'array_mismatch', attempt: mismatch.attempt });
});

test('the lines of one connection count each request for itself', async () => {
  const service = await appForTest();
  const responses = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const response = await fetch(`${service.url}/contexts`);
    responses.push(await response.text());
  }
  expect(JSON.parse(responses[0]!)).toEqual(jsonOf(await ask(service.url, '/contexts')));
  const lines = await requestLines(service, 4);
  const sizes = lines.slice(0, 3).map((line) => line['bytes_out']);
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(responses[0]!.length);
});

test('what failed inside is logged with its cause and shown without it', async () => {
  const service = await appForTest();
  service.store.lookAtSnapshots = () => {
    throw new Error('the inner reason');
  };
  const answer = await ask(service.url, '/snapshots');
  problemOf(answer, 'internal_error');
  expect(answer.body.toString()).not.toContain('the inner reason');
  await requestLines(service, 1);
  expect(JSON.stringify(service.logs)).toContain('the inner reason');
});
