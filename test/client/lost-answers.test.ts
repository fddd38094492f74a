/** What a publication does when the network or the service fails in the middle of it. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

import {
  ConnectionError,
  OutcomeUnknownError,
  ProblemError,
  PublicationInProgressError,
  PublicationUncertainError,
  SnapshotExistsError,
  StorageIntegrityError,
  TimeoutError,
  UnavailableError,
} from '../../src/client/index.ts';
import { idOf } from '../support/stores.ts';
import { changeAnswer, cutAnswer, faultyProxy, flipByte, loseAnswer, passOn } from './faulty-proxy.ts';
import { problem, resetAfterBytes, type Fault } from './faulty-proxy.ts';
import { clientOf, corrupt, IMPATIENT, metadataOf, startService } from './running-service.ts';

const ID = idOf(1);
const POST = 'POST /snapshots';
const LOOK = `GET /snapshots/${ID}`;
const ids = () => ({ ids: new Uint8Array(300_000).fill(7) });
/** More than the buffers of a connection hold, so that a reset leaves a part of it unsent. */
const big = () => ({ ids: new Uint8Array(12 * 1024 * 1024).fill(7) });
const bigStream = () => ({ ids: { dtype: 'uint8' as const, data: Readable.from([big().ids]) } });
const stream = () => ({ ids: { dtype: 'uint8' as const, data: Readable.from([Buffer.alloc(300_000, 7)]) } });

const neverAnswer: Fault = async ({ forward }) => {
  await forward();
};

async function through(...faults: Fault[]) {
  const service = await startService();
  const proxy = await faultyProxy(service.url, faults);
  return { service, proxy, direct: clientOf(service.url), client: clientOf(proxy.url) };
}

test('a lost answer is followed by a look at what is stored, and equal digests confirm it', async () => {
  const { client, direct, proxy } = await through(loseAnswer);
  const result = await client.publish(metadataOf(ID), ids());
  expect(result).toMatchObject({ outcome: 'confirmed', attempts: 1 });
  expect(result.confirmedAfter).toBeInstanceOf(ConnectionError);
  expect(result.manifestSha256).toBe((await direct.manifest(ID)).manifestSha256);
  expect(proxy.requests).toEqual([POST, LOOK]);
});

test('a reset in the middle of the body is followed by the same snapshot again', async () => {
  const { client, proxy } = await through(resetAfterBytes(100_000), resetAfterBytes(1));
  const result = await client.publish(metadataOf(ID), big());
  expect(result).toMatchObject({ outcome: 'published', attempts: 3 });
  expect(proxy.requests).toEqual([POST, POST, POST]);
  expect(Buffer.from((await client.array(ID, 'ids')) as Uint8Array).equals(big().ids)).toBe(true);
});

test('after a lost answer a snapshot of other content under the id is an error, not a success', async () => {
  const { client, direct } = await through(async ({ request, reset }) => {
    for await (const _ of request);
    await direct.publish(metadataOf(ID, { scope: 'somebody else' }), {});
    reset();
  });
  const publishing = client.publish(metadataOf(ID), ids());
  await expect(publishing).rejects.toBeInstanceOf(SnapshotExistsError);
  await expect(publishing).rejects.toThrow('published with other content');
});

test('a snapshot that was there before is never taken for the own one, however equal', async () => {
  const { client, direct, proxy } = await through(resetAfterBytes(100_000));
  await direct.publish(metadataOf(ID), big());
  // The broken first request cannot have been stored, so the refusal of the second means somebody else's.
  await expect(client.publish(metadataOf(ID), big())).rejects.toBeInstanceOf(SnapshotExistsError);
  expect(proxy.requests).toEqual([POST, POST]);
});

test('an answer that says the id is taken after a lost one is settled by digests', async () => {
  const { client, proxy } = await through(loseAnswer, problem(404, 'snapshot_not_found'));
  const result = await client.publish(metadataOf(ID), ids());
  expect(result).toMatchObject({ outcome: 'confirmed', attempts: 2 });
  expect(proxy.requests).toEqual([POST, LOOK, POST, LOOK]);
});

test.each([
  ['unavailable', 503, UnavailableError],
  ['publication_in_progress', 409, PublicationInProgressError],
])('%s is tried again after the time it asks for, and in the end told', async (code, status, Class) => {
  const refuse = problem(status, code, {}, { 'retry-after': '1' });
  const { client } = await through(refuse);
  const began = performance.now();
  expect(await client.publish(metadataOf(ID), ids())).toMatchObject({ outcome: 'published', attempts: 2 });
  expect(performance.now() - began).toBeGreaterThan(990);
  const now = problem(status, code, {}, { 'retry-after': '0' });
  const never = await through(now, now, now, now);
  await expect(never.client.publish(metadataOf(ID), ids())).rejects.toBeInstanceOf(Class);
  expect(never.proxy.requests).toHaveLength(IMPATIENT.attempts);
});

test('a Retry-After beyond the patience of the policy is told at once', async () => {
  const { client, proxy } = await through(problem(503, 'unavailable', {}, { 'retry-after': '3600' }));
  await expect(client.publish(metadataOf(ID), ids())).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(proxy.requests).toHaveLength(1);
});

test('an uncertain publication is looked up, and confirmed with the doubt kept', async () => {
  const uncertain: Fault = async (exchange) => {
    await exchange.forward();
    await problem(500, 'publication_uncertain', { snapshot_id: ID })(exchange);
  };
  const { client } = await through(uncertain);
  const result = await client.publish(metadataOf(ID), ids());
  expect(result.outcome).toBe('confirmed');
  expect(result.confirmedAfter).toBeInstanceOf(PublicationUncertainError);
});

test('without any further answer the outcome is told to be unknown', async () => {
  const silent: Fault = ({ reset }) => reset();
  const { client, direct } = await through(loseAnswer, ...Array.from({ length: 20 }, () => silent));
  const publishing = client.publish(metadataOf(ID), ids());
  await expect(publishing).rejects.toBeInstanceOf(OutcomeUnknownError);
  await expect(publishing).rejects.toMatchObject({ code: 'outcome_unknown', snapshotId: ID });
  expect(await direct.manifest(ID)).toBeDefined();
});

test('a stored snapshot that cannot be proven leaves the outcome unknown', async () => {
  const { client, service } = await through(async (exchange) => {
    await exchange.forward();
    corrupt(`${service.root}/snapshots/${ID}/array-ids.bin`);
    exchange.reset();
  });
  const error = await client.publish(metadataOf(ID), ids()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect((error as Error).cause).toBeInstanceOf(StorageIntegrityError);
});

test.each([
  ['cut short', cutAnswer(40)],
  ['with a wrong byte', changeAnswer(({ body }) => ({ body: flipByte(body) }))],
  [
    'without a digest',
    changeAnswer(({ headers }) => ({ headers: { ...headers, 'repr-digest': undefined } })),
  ],
  [
    'of another type',
    changeAnswer(({ headers }) => ({ headers: { ...headers, 'content-type': 'text/html' } })),
  ],
  ['from a gateway', changeAnswer(() => ({ status: 504, headers: {}, body: Buffer.from('timeout') }))],
])('an answer %s is no answer: what is stored is looked up', async (_, fault) => {
  const { client, proxy } = await through(fault);
  expect(await client.publish(metadataOf(ID), ids())).toMatchObject({ outcome: 'confirmed', attempts: 1 });
  expect(proxy.requests).toEqual([POST, LOOK]);
});

test('an answer that does not come in time is a lost answer', async () => {
  const service = await startService();
  const proxy = await faultyProxy(service.url, [neverAnswer]);
  const client = clientOf({ baseUrl: proxy.url, timeouts: { headersMs: 1_100 } });
  const result = await client.publish(metadataOf(ID), ids());
  expect(result.outcome).toBe('confirmed');
  expect(result.confirmedAfter).toBeInstanceOf(TimeoutError);
});

test('a stream is never sent twice', async () => {
  const { client, proxy } = await through(resetAfterBytes(100_000));
  await expect(client.publish(metadataOf(ID), bigStream())).rejects.toBeInstanceOf(ConnectionError);
  expect(proxy.requests).toEqual([POST]);
});

test('a stream whose answer is lost was hashed on its way and is confirmed by a look', async () => {
  const { client } = await through(loseAnswer);
  expect(await client.publish(metadataOf(ID), stream())).toMatchObject({ outcome: 'confirmed', attempts: 1 });
});

test('a stream from which nothing was taken yet may wait for the connection', async () => {
  const { client } = await through();
  const refused = clientOf({ baseUrl: 'http://127.0.0.1:9', retry: { attempts: 2, minDelayMs: 1 } });
  await expect(refused.publish(metadataOf(ID), stream())).rejects.toBeInstanceOf(ConnectionError);
  expect(await client.publish(metadataOf(ID), stream())).toMatchObject({ outcome: 'published' });
});

test('other refusals are not repeated', async () => {
  const { client, proxy } = await through(problem(507, 'insufficient_storage'), passOn);
  await expect(client.publish(metadataOf(ID), ids())).rejects.toMatchObject({ code: 'insufficient_storage' });
  expect(proxy.requests).toHaveLength(1);
});

test('a code of a newer service is still an error with its code', async () => {
  const { client } = await through(problem(418, 'teapot', { errors: [{ path: 'a', message: 'b' }] }));
  const error = await client.publish(metadataOf(ID), ids()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ code: 'teapot', status: 418, errors: [{ path: 'a', message: 'b' }] });
});

test('retry false sends once', async () => {
  const { client, proxy } = await through(resetAfterBytes(1));
  await expect(client.publish(metadataOf(ID), big(), { retry: false })).rejects.toBeInstanceOf(
    ConnectionError,
  );
  expect(proxy.requests).toEqual([POST]);
});

test('progress begins anew with every attempt', async () => {
  const { client } = await through(resetAfterBytes(100_000));
  const attempts = new Set<number>();
  let last = 0;
  const onProgress = ({ attempt, sentBytes }: { attempt: number; sentBytes: number }) => {
    attempts.add(attempt);
    last = sentBytes;
  };
  await client.publish(metadataOf(ID), big(), { onProgress });
  expect([...attempts]).toEqual([1, 2]);
  expect(last).toBe(big().ids.length);
});
