import { connect } from 'node:net';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { FormData, request as send } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SnapshotError } from '../../src/contract/errors.ts';
import { readParts } from '../../src/http/multipart.ts';
import {
  BOUNDARY,
  bodyOf,
  oddities,
  reading,
  uploadServer,
  within,
  type Outcome,
  type PartToSend,
  type UploadServer,
} from './multipart-support.ts';

let server: UploadServer;
beforeAll(async () => {
  server = await uploadServer();
});
afterAll(async () => {
  await server.close();
});
afterEach(() => {
  server.reader = reading();
});

const received = ({ parts, error }: Outcome): unknown => ({
  error,
  parts: parts.map(({ name, bytes }) => [name, bytes.toString('latin1')]),
});
const whole = (parts: readonly PartToSend[]): unknown => ({
  error: undefined,
  parts: parts.map(({ name, payload }) => [name, Buffer.from(payload as string).toString('latin1')]),
});
const malformed = expect.objectContaining({ code: 'malformed_multipart' }) as unknown;
const metadata: PartToSend = { name: 'metadata', payload: '{"a":1,"a":12345678901234567890}' };

describe('the parts of an upload', () => {
  it.each(oddities)('are refused for %s', async (_, text) => {
    const body = Buffer.from(text, 'latin1');
    for (const pieces of [[body.length], [37]]) {
      const { error } = await server.upload(body, { pieces });
      expect(error).toEqual(malformed);
    }
  });

  it('never arrive in part: a body cut at any byte is refused', async () => {
    const body = bodyOf([metadata, { name: 'ids', payload: 'x\r\n--fron' }]);
    for (let length = 0; length < body.length - 2; length += 1) {
      const { error } = await server.upload(body.subarray(0, length));
      expect(error, `the first ${length} bytes`).toEqual(malformed);
    }
  });

  it.each(['end', 'reset'] as const)(
    'are refused when the client goes away (%s), at any byte',
    async (hangUp) => {
      const body = bodyOf([metadata, { name: 'ids', payload: 'x\r\n--fron' }]);
      // From the first byte on: a request that is reset before it is read is never handled at all.
      for (let length = 1; length < body.length; length += 7) {
        let outcome: Promise<Outcome> | undefined;
        const started = new Promise<void>((resolve) => {
          server.reader = (request) => {
            outcome = reading({
              onBytes: () => {
                resolve();
              },
            })(request);
            return outcome;
          };
        });
        const socket = connect(server.port, '127.0.0.1');
        socket.on('error', () => undefined);
        const head = `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}`;
        socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
        socket.write(body.subarray(0, length));
        await within(5_000, started);
        if (hangUp === 'end') socket.end();
        else socket.resetAndDestroy();
        const { error } = await within(
          5_000,
          outcome ?? Promise.reject(new Error('The request never came.')),
        );
        expect(error).toEqual(malformed);
        expect((error as Error).message).toContain('cut short');
        expect((error as Error).cause).toMatchObject({ code: 'ECONNRESET' });
        socket.destroy();
      }
    },
  );

  it('arrive byte for byte, raw, with and without a file name', async () => {
    const parts: PartToSend[] = [
      { ...metadata, headers: ['Content-Type: application/json'] },
      {
        name: 'ids',
        payload: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
        fileName: 'a\\b;c.bin',
      },
      { name: 'empty', payload: '' },
      { name: 'array-constructor.bin', payload: 'x', headers: ['Content-Transfer-Encoding: binary'] },
      { name: 'ids', payload: 'twice' },
    ];
    const outcome = await server.upload(bodyOf(parts));
    expect(received(outcome)).toEqual(whole(parts));
    expect(outcome.parts.map((part) => part.mediaType).slice(0, 2)).toEqual([
      'application/json',
      'text/plain',
    ]);
  });

  it('are none in a body that is only a close delimiter', async () => {
    expect(await server.upload(Buffer.from(`--${BOUNDARY}--\r\n`))).toEqual({ parts: [], error: undefined });
  });

  it.each([
    ['70 characters', 'b'.repeat(70), 'b'.repeat(70)],
    ['quoted', `"a'()+_,-./:=? z"`, `a'()+_,-./:=? z`],
    ['dashes only', '--', '--'],
  ])('arrive with a boundary that is %s', async (_, written, boundary) => {
    const parts = [metadata, { name: 'ids', payload: `\r\n--${boundary.slice(1)}\r\n-` }];
    const contentType = `multipart/form-data; charset=utf-8; boundary=${written}`;
    const pieces = [1, 2, 3, 5, 7, 11, 13, 17];
    expect(received(await server.upload(bodyOf(parts, boundary), { contentType, pieces }))).toEqual(
      whole(parts),
    );
  });

  it('arrive with a written-out CR LF before the first delimiter', async () => {
    const body = Buffer.concat([Buffer.from('\r\n'), bodyOf([metadata])]);
    for (const pieces of [[body.length], [1]]) {
      expect(received(await server.upload(body, { pieces }))).toEqual(whole([metadata]));
    }
  });

  it('arrive from a FormData of undici', async () => {
    let outcome: Outcome | undefined;
    server.reader = async (request) => (outcome = await reading()(request));
    const form = new FormData();
    form.append('metadata', '{}');
    form.append('ids', new Blob([Buffer.alloc(100_000, 7)]), 'i"d\r\ns.bin');
    const { statusCode, body } = await send(`http://127.0.0.1:${server.port}/`, {
      method: 'POST',
      body: form,
    });
    await body.dump();
    expect(statusCode).toBe(200);
    expect(outcome?.error).toBeUndefined();
    expect(outcome?.parts.map(({ name, bytes }) => [name, bytes.length])).toEqual([
      ['metadata', 2],
      ['ids', 100_000],
    ]);
  });

  it('arrive when there are more of them than the parser counts by default', async () => {
    const parts = Array.from({ length: 1_200 }, (_, index) => ({ name: `p${index}`, payload: `${index}` }));
    expect(received(await server.upload(bodyOf(parts)))).toEqual(whole(parts));
  });

  it('arrive as sent, in any pieces: the parser and the framing agree', async () => {
    const shards = [
      '\r',
      '\n',
      '-',
      '\r\n--',
      '\r\n--frontie',
      `--${BOUNDARY}`,
      'x'.repeat(70_000),
      '\0',
      '\u00ff',
    ];
    const payload = fc.array(fc.constantFrom(...shards), { maxLength: 12 }).map((list) => list.join(''));
    const part = fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/).filter((name) => !(name in Object.prototype)),
      payload: payload
        .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`))
        .map((text) => Buffer.from(text, 'latin1')),
    });
    const pieces = fc.oneof(
      fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 5_000, max: 70_000 }), { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), pieces, async (parts, sizes) => {
        const body = bodyOf(parts);
        const bounded = body.length > 20_000 ? sizes.map((size) => Math.max(size, 997)) : sizes;
        expect(received(await server.upload(body, { pieces: bounded }))).toEqual(whole(parts));
      }),
      { numRuns: 150 },
    );
  });

  it('arrive byte for byte in pieces of 1 to 17 bytes when payloads look like delimiters', async () => {
    const near = `\r\n\r\n--\r--${BOUNDARY}\r\n--${BOUNDARY.slice(0, -1)}\r\n--${BOUNDARY.toUpperCase()}\r\n-`;
    const parts = [metadata, { name: 'ids', payload: near.repeat(3) }, { name: 'end', payload: '\r' }];
    for (let size = 1; size <= 17; size += 1) {
      expect(received(await server.upload(bodyOf(parts), { pieces: [size] }))).toEqual(whole(parts));
    }
  });
});

/** Replaces the parser's view of a request by a changed one, as a parser with other rules would have it. */
function parsedAs(change: (parts: ReturnType<FastifyRequest['parts']>) => AsyncGenerator): void {
  server.reader = (request) => {
    const parts: FastifyRequest['parts'] = (options) => change(request.parts(options)) as never;
    return reading()(Object.create(request, { parts: { value: parts } }) as FastifyRequest);
  };
}

describe('a parser that sees another body than the framing', () => {
  const body = bodyOf([metadata, { name: 'ids', payload: 'xyz' }]);

  it('is not believed when it leaves out a part', async () => {
    parsedAs(async function* (parts) {
      for await (const part of parts) {
        if (part.fieldname === 'metadata') yield part;
        else if (part.type === 'file') part.file.resume();
      }
    });
    expect((await server.upload(body)).error).toEqual(malformed);
  });

  it('is not believed when it renames a part', async () => {
    parsedAs(async function* (parts) {
      for await (const part of parts) yield { ...part, fieldname: part.fieldname.toUpperCase() };
    });
    expect(await server.upload(body)).toEqual({ parts: [], error: malformed });
  });

  it('is not believed when it adds a part', async () => {
    parsedAs(async function* (parts) {
      yield* parts;
      yield { type: 'file', fieldname: 'ids', file: Readable.from([]) };
    });
    expect((await server.upload(body)).error).toEqual(malformed);
  });

  it('is not believed when it shortens a payload', async () => {
    parsedAs(async function* (parts) {
      for await (const part of parts) {
        if (part.type === 'file')
          yield { ...part, file: Readable.from([(await part.toBuffer()).subarray(1)]) };
      }
    });
    expect(await server.upload(body)).toEqual({ parts: [], error: malformed });
  });

  it('is not believed when it stops before the body does', async () => {
    parsedAs(async function* () {});
    for (const length of [body.length, body.length - 5, 20]) {
      expect(await server.upload(body.subarray(0, length))).toEqual({ parts: [], error: malformed });
    }
  });

  it('is waited past: what comes after its last part is still judged', async () => {
    const left: boolean[] = [];
    server.reader = async (request) => {
      request.raw.pause();
      const parts = () => (async function* () {})() as never;
      const outcome = await reading()(Object.create(request, { parts: { value: parts } }) as FastifyRequest);
      left.push(request.raw.isPaused());
      return outcome;
    };
    const end = Buffer.from(`--${BOUNDARY}--`);
    expect((await server.upload(end)).error).toBeUndefined();
    expect((await server.upload(Buffer.concat([end, Buffer.from('bye')]))).error).toEqual(malformed);
    expect(left[1]).toBe(true);
  });
});

describe('reading parts', () => {
  it('takes a body that is destroyed without an error for cut short', async () => {
    server.reader = (request) => {
      setTimeout(() => request.raw.destroy(), 50);
      return reading()(request);
    };
    const body = bodyOf([metadata]);
    const { error } = await server.upload(body.subarray(0, -10), { promised: body.length });
    expect(error).toEqual(malformed);
    expect((error as Error).message).toContain('cut short');
  });

  it('needs one multipart/form-data Content-Type', async () => {
    const twice = { extraHeaders: ['Content-Type: multipart/form-data; boundary=other'] };
    expect((await server.upload(bodyOf([metadata]), twice)).error).toEqual(malformed);
    const { error } = await server.upload(bodyOf([metadata]), { contentType: 'multipart/form-data' });
    expect(error).toEqual(malformed);
  });

  it('names the limit when part headers are too long', async () => {
    const headers = [`A: ${'b'.repeat(90_000)}`];
    const { error } = await server.upload(bodyOf([metadata, { name: 'ids', payload: 'x', headers }]));
    expect(error).toMatchObject({ code: 'limit_exceeded', details: { limit: 'part_header_bytes' } });
  });

  it('ends with the reason of its signal while it waits for bytes that do not come', async () => {
    const stalled = new SnapshotError('upload_stalled', 'No bytes came.', { idle_seconds: 1 });
    const controller = new AbortController();
    const body = bodyOf([metadata, { name: 'ids', payload: 'xyz' }]);
    for (const length of [0, 30, body.length - 30]) {
      const current = new AbortController();
      server.reader = reading({ signal: current.signal });
      const outcome = server.upload(body.subarray(0, length), { promised: body.length });
      setTimeout(() => {
        current.abort(stalled);
      }, 50);
      expect((await outcome).error).toBe(stalled);
    }
    controller.abort(stalled);
    server.reader = reading({ signal: controller.signal });
    expect((await server.upload(body)).error).toBe(stalled);
  });

  it('tells the size of every raw piece, and ends with what the listener throws', async () => {
    let bytes = 0;
    server.reader = reading({ onBytes: (count) => (bytes += count) });
    const body = bodyOf([metadata, { name: 'ids', payload: 'x'.repeat(200_000) }]);
    expect((await server.upload(body)).error).toBeUndefined();
    expect(bytes).toBe(body.length);
    const enough = new Error('Enough.');
    server.reader = reading({
      onBytes: () => {
        throw enough;
      },
    });
    expect((await server.upload(body)).error).toBe(enough);
  });

  it('reads no further than its consumer: a slow one stops the sender', async () => {
    let seen = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    server.reader = async (request) => {
      const parts: Outcome['parts'] = [];
      for await (const part of readParts(request, { onBytes: (count) => (seen += count) })) {
        let first = true;
        let length = 0;
        for await (const piece of part.chunks) {
          length += piece.length;
          if (first) await held;
          first = false;
        }
        parts.push({ name: part.name, mediaType: String(length), bytes: Buffer.alloc(0) });
      }
      return { parts, error: undefined };
    };
    const body = bodyOf([{ name: 'ids', payload: Buffer.alloc(64 * 1024 * 1024, 1) }]);
    const outcome = server.upload(body);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const seenWhileHeld = seen;
    release();
    expect((await outcome).parts[0]?.mediaType).toBe(String(64 * 1024 * 1024));
    expect(seen).toBe(body.length);
    expect(seenWhileHeld).toBeGreaterThan(0);
    expect(seenWhileHeld).toBeLessThan(1024 * 1024);
  });

  it('fails a consumer that asks for the next part before it has read the current one', async () => {
    server.reader = async (request) => {
      try {
        for await (const part of readParts(request))
          for await (const piece of part.chunks) if (piece.length > 0) break;
        return { parts: [], error: undefined };
      } catch (error) {
        return { parts: [], error };
      }
    };
    const { error } = await server.upload(
      bodyOf([metadata, { name: 'ids', payload: Buffer.alloc(1_000_000) }]),
    );
    expect(error).not.toBeInstanceOf(SnapshotError);
    expect((error as Error).message).toContain('must be read to its end');
  });

  it('leaves an abandoned request paused and free of its listeners, to be drained by the caller', async () => {
    let drained = 0;
    const left: unknown[] = [];
    server.reader = async (request) => {
      const { raw } = request;
      const before = raw.listenerCount('data');
      for await (const part of readParts(request)) if (part.name !== '') break;
      left.push(raw.isPaused(), raw.readableEnded, raw.listenerCount('data') - before);
      raw.on('data', (chunk: Buffer) => (drained += chunk.length));
      await new Promise((resolve) => raw.once('end', resolve).resume());
      return { parts: [], error: undefined };
    };
    const body = bodyOf([metadata, { name: 'ids', payload: Buffer.alloc(3_000_000) }]);
    expect((await server.upload(body)).error).toBeUndefined();
    expect(left).toEqual([true, false, 0]);
    expect(drained).toBeGreaterThan(2_000_000);
  });

  it('leaves a refused request in the same state, so that the refusal can still be answered', async () => {
    const body = Buffer.concat([Buffer.from(`--${BOUNDARY} \r\n`), Buffer.alloc(3_000_000)]);
    let left: unknown[] = [];
    server.reader = async (request) => {
      const outcome = await reading()(request);
      left = [request.raw.isPaused(), request.raw.destroyed];
      return outcome;
    };
    const response = await send(`http://127.0.0.1:${server.port}/`, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body,
    });
    expect([response.statusCode, await response.body.text()]).toEqual([400, 'malformed_multipart']);
    expect(left).toEqual([true, false]);
  });
});
