/** A client that is refused while it still sends gets the answer, at a bounded cost. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { bodyOf, BOUNDARY } from '../http/multipart-support.ts';
import { problemOf } from '../support/http.ts';
import { appForTest, type RunningApp } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, MULTIPART, publish } from '../support/uploads.ts';
import { eventually, exchange, head, sleep, Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;
const ID = idOf(1);

/** The bytes of an upload up to where the payload of its array begins. */
function beginning(
  id: string,
  arrays: Record<string, unknown> = { big: { dtype: 'uint8' } },
  name = 'big',
): Buffer {
  const body = bodyOf([
    { name: 'metadata', payload: JSON.stringify({ snapshot: metadataOf(id), arrays }) },
    { name, payload: '' },
  ]);
  return body.subarray(0, body.length - Buffer.from(`\r\n--${BOUNDARY}--\r\n`).length);
}

function announced(length: number, more: readonly string[] = []): string {
  return head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${length}`, ...more]);
}

/** Sends up to `length` bytes as fast as they are taken; gives how many were handed over before the connection ended. */
async function pour(wire: Wire, length: number): Promise<number> {
  const block = Buffer.alloc(MIB, 1);
  let sent = 0;
  while (sent < length && !wire.ended && wire.error === undefined) {
    const done = wire.send(block.subarray(0, Math.min(MIB, length - sent)));
    await Promise.race([done, wire.closed(15_000)]);
    sent += MIB;
  }
  return sent;
}

/** Bytes that the one finished upload was charged with. */
async function bytesRead({ logs }: RunningApp, code: string): Promise<number> {
  const find = () => logs.find((line) => line['msg'] === 'request' && line['code'] === code);
  await eventually(`a line for ${code}`, () => find() !== undefined);
  return find()!['bytes_in'] as number;
}

describe('a refusal in the midst of a body', () => {
  it.each<readonly [string, number, (url: string) => Buffer | Promise<Buffer>]>([
    ['snapshot_exists', 409, () => beginning(ID)],
    ['contract_violation', 422, () => beginning('nonsense')],
    ['array_mismatch', 422, () => beginning(idOf(2), {}, 'undeclared')],
    [
      'parent_not_complete',
      422,
      () =>
        Buffer.from(
          beginning(idOf(2))
            .toString()
            .replace('"parent_id":null', `"parent_id":"${idOf(9)}"`),
        ),
    ],
    ['malformed_multipart', 400, () => Buffer.from('no delimiter at all')],
  ])('(%s) reaches a client that only listens when it has sent 64 MB', async (code, status, start) => {
    const running = await appForTest();
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    wire.socket.pause();
    const first = await start(running.url);
    await wire.send(Buffer.concat([Buffer.from(announced(first.length + 64 * MIB)), first]));
    expect(await pour(wire, 64 * MIB)).toBe(64 * MIB);
    wire.socket.resume();
    const answer = await wire.answer();
    expect(answer?.status).toBe(status);
    problemOf(answer!, code as 'snapshot_exists');
    // The whole body was read, so the connection goes on.
    await wire.send(head('GET', '/healthz'));
    expect((await wire.answer())?.status).toBe(200);
    wire.destroy();
  });

  it('is answered without reading on where the body is announced longer than the bound', async () => {
    const running = await appForTest({ settings: { maxDrainBytes: 4 * MIB } });
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    const first = beginning(ID);
    await wire.send(Buffer.concat([Buffer.from(announced(first.length + 1024 * MIB)), first]));
    const answer = await wire.answer(2_000);
    problemOf(answer!, 'snapshot_exists');
    expect(answer!.headers.connection).toBe('close');
    const started = Date.now();
    await pour(wire, 1024 * MIB);
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(await wire.closed()).toBe(true);
    expect(await bytesRead(running, 'snapshot_exists')).toBeLessThan(8 * MIB);
    wire.destroy();
  });

  it('beyond the bound is still heard by a client that goes on sending for a while before it listens', async () => {
    const running = await appForTest({ settings: { maxDrainBytes: 4 * MIB } });
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    wire.socket.pause();
    const first = beginning(ID);
    await wire.send(Buffer.concat([Buffer.from(announced(first.length + 1024 * MIB)), first]));
    for (let piece = 0; piece < 10; piece += 1) {
      await sleep(60);
      await wire.send(Buffer.alloc(64 * 1024));
    }
    expect(wire.error).toBeUndefined();
    wire.socket.resume();
    problemOf((await wire.answer())!, 'snapshot_exists');
    expect(await wire.closed()).toBe(true);
    wire.destroy();
  });

  it('is answered at the bound, and closed soon after, where nobody knows how long the body is', async () => {
    const running = await appForTest({ settings: { maxDrainBytes: 4 * MIB } });
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    const first = beginning(ID);
    await wire.send(head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, 'Transfer-Encoding: chunked']));
    await wire.send(
      Buffer.concat([Buffer.from(`${first.length.toString(16)}\r\n`), first, Buffer.from('\r\n')]),
    );
    await wire.send(`${(1024 * MIB).toString(16)}\r\n`);
    const started = Date.now();
    const pouring = pour(wire, 1024 * MIB);
    const answer = await wire.answer(5_000);
    problemOf(answer!, 'snapshot_exists');
    expect(answer!.headers.connection).toBe('close');
    await pouring;
    expect(await wire.closed()).toBe(true);
    expect(Date.now() - started).toBeLessThan(10_000);
    expect(await bytesRead(running, 'snapshot_exists')).toBeLessThan(16 * MIB);
    wire.destroy();
  });

  it('does not wait for a client that sends nothing more', async () => {
    const running = await appForTest({ settings: { idleSeconds: 1 } });
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    const first = beginning(ID);
    await wire.send(Buffer.concat([Buffer.from(announced(first.length + MIB)), first]));
    const answer = await wire.answer(4_000);
    problemOf(answer!, 'snapshot_exists');
    expect(await wire.closed()).toBe(true);
    wire.destroy();
  });

  it('frees the place of the upload before the rest is read', async () => {
    const running = await appForTest({ settings: { maxUploads: 1 } });
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const wire = await Wire.open(running.url);
    const first = beginning(ID);
    await wire.send(Buffer.concat([Buffer.from(announced(first.length + MIB)), first]));
    await eventually('the refused upload has ended', () => running.app.transfers.uploads === 0);
    expect((await publish(running.url, idOf(2), EXAMPLE_ARRAYS)).status).toBe(201);
    wire.destroy();
  });

  it('reaches curl and its exit status says so, in bounded time', async () => {
    const running = await appForTest();
    expect((await publish(running.url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const file = join(temporaryRoot(), 'big.bin');
    fs.writeFileSync(file, '');
    fs.truncateSync(file, 96 * MIB);
    const metadata = JSON.stringify({ snapshot: metadataOf(ID), arrays: { big: { dtype: 'uint8' } } });
    for (const expect100 of [[], ['--header', 'Expect:']]) {
      const flags = ['--silent', '--max-time', '20', '--write-out', '\n%{http_code}', ...expect100];
      const output = await outputOf('curl', [
        ...flags,
        '--form-string',
        `metadata=${metadata}`,
        '--form',
        `big=@${file}`,
        `${running.url}/snapshots`,
      ]);
      expect(output.split('\n').at(-1)).toBe('409');
      expect(output).toContain('"snapshot_exists"');
    }
  });
});

function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', () => {
      resolve(output);
    });
  });
}

describe('Expect: 100-continue', () => {
  const waiting = ['Expect: 100-continue'];

  it.each<readonly [string, Record<string, unknown>, readonly string[], number]>([
    ['a foreign host', {}, ['Host: evil.example'], 403],
    ['a foreign origin', {}, ['Origin: null'], 403],
    ['no token', { token: 'secret' }, [], 401],
    ['a wrong media type', {}, ['Content-Type: application/json'], 415],
    ['a boundary that is none', {}, ['Content-Type: multipart/form-data'], 400],
    ['a content coding', {}, ['Content-Encoding: gzip'], 415],
    [
      'an announced length over the limits',
      { maxSnapshotBytes: 10, maxMetadataBytes: 10, maxArrays: 1 },
      [],
      413,
    ],
    ['a read-only service', { readOnly: true }, [], 405],
  ])('is not answered 100 with %s, and nothing is made', async (_what, settings, lines, status) => {
    const root = temporaryRoot();
    const { url } = await appForTest({ root, settings });
    const wire = await Wire.open(url);
    const type = lines.some((line) => line.startsWith('Content-Type')) ? [] : [`Content-Type: ${MULTIPART}`];
    await wire.send(head('POST', '/snapshots', [...waiting, ...lines, ...type, 'Content-Length: 50000000']));
    const answer = await wire.answer();
    expect(answer?.status).toBe(status);
    // Nobody knows whether the client will send its body after all, so the connection cannot go on.
    expect(answer!.headers.connection).toBe('close');
    expect(await wire.closed()).toBe(true);
    expect(attemptsOf(root)).toEqual([]);
    wire.destroy();
  });

  it('is not answered 100 when every upload place is taken, or the service stops', async () => {
    const { url, app } = await appForTest({ settings: { maxUploads: 1 } });
    const first = await Wire.open(url);
    await first.send(announced(50_000, waiting));
    expect((await first.answer())?.status).toBe(100);
    const second = await Wire.open(url);
    await second.send(announced(50_000, waiting));
    const busy = await second.answer();
    problemOf(busy!, 'unavailable');
    expect(busy!.headers['retry-after']).toMatch(/^\d+$/u);
    app.transfers.stop();
    const third = await Wire.open(url);
    await third.send(announced(50_000, waiting));
    problemOf((await third.answer())!, 'unavailable');
    for (const wire of [first, second, third]) wire.destroy();
  });

  it('is answered 100 once nothing stands against the body; what only the metadata tells comes after', async () => {
    const { url } = await appForTest();
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
    const body = Buffer.concat([beginning(ID), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
    const wire = await Wire.open(url);
    await wire.send(announced(body.length, waiting));
    expect((await wire.answer())?.status).toBe(100);
    expect(wire.received.length).toBe(0);
    await wire.send(body);
    problemOf((await wire.answer())!, 'snapshot_exists');
    wire.destroy();
  });

  it('is 417 for anything else, before the body', async () => {
    const { url } = await appForTest();
    for (const expectation of ['200-ok', '100-continue, 200-ok', 'x100-continue', '100-continue; q=1']) {
      const answer = await exchange(url, announced(5, [`Expect: ${expectation}`]));
      problemOf(answer!, 'expectation_failed');
    }
  });

  it('does not put its 100 into the answer before it', async () => {
    const { url } = await appForTest();
    const bytes = Buffer.alloc(8 * MIB, 3);
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(head('GET', `/snapshots/${ID}/array-big.bin`) + announced(50_000, waiting));
    await sleep(300);
    wire.socket.resume();
    const download = await wire.answer(10_000);
    expect(download?.body.equals(bytes)).toBe(true);
    expect((await wire.answer())?.status).toBe(100);
    wire.destroy();
  });
});

describe('a body that means nothing', () => {
  it('does not keep a GET from its answer, nor the connection from its next one', async () => {
    const { url } = await appForTest();
    const wire = await Wire.open(url);
    await wire.send(head('GET', '/snapshots', ['Content-Length: 100000']) + 'x'.repeat(100_000));
    expect((await wire.answer())?.status).toBe(200);
    await wire.send(head('GET', '/healthz'));
    expect((await wire.answer())?.status).toBe(200);
    wire.destroy();
  });

  it('is not read without end', async () => {
    const { url } = await appForTest({ settings: { maxDrainBytes: MIB } });
    for (const [method, target] of [
      ['GET', '/snapshots'],
      ['DELETE', '/snapshots'],
      ['PUT', '/nothing'],
    ] as const) {
      const wire = await Wire.open(url);
      await wire.send(head(method, target, ['Transfer-Encoding: chunked']) + '40000000\r\n');
      const started = Date.now();
      const sent = await pour(wire, 1024 * MIB);
      expect(sent, method).toBeLessThan(512 * MIB);
      expect(await wire.closed(), method).toBe(true);
      expect(Date.now() - started, method).toBeLessThan(8_000);
      expect((await wire.answer())?.headers.connection).toBe('close');
      wire.destroy();
    }
  });
});
