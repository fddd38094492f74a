import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MultipartFraming, type FramedPart } from '../../src/http/multipart-framing.ts';
import { BOUNDARY, bodyOf, oddities, type PartToSend } from './multipart-support.ts';

const malformed = expect.objectContaining({ code: 'malformed_multipart' });

/** Feeds a body in pieces of the given sizes, repeated. */
function frame(
  body: Buffer,
  sizes: readonly number[] = [body.length],
  boundary = BOUNDARY,
): readonly FramedPart[] {
  const framing = new MultipartFraming(boundary);
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    framing.push(body.subarray(at, at + size));
    at += size;
  }
  framing.end();
  return framing.parts;
}

const lengths = (parts: readonly FramedPart[]): unknown =>
  parts.map(({ name, byteLength, complete }) => [name, byteLength, complete]);
const sent = (parts: readonly PartToSend[]): unknown =>
  parts.map(({ name, payload }) => [name, Buffer.byteLength(payload), true]);

describe('multipart framing', () => {
  it.each(oddities)('refuses %s, however the body is cut into chunks', (_, text) => {
    const body = Buffer.from(text, 'latin1');
    for (const size of [body.length, 1, 2, 3, 5, 7, 11, 13, 17]) {
      expect(() => frame(body, [size]), `pieces of ${size}`).toThrow(malformed);
    }
  });

  it('records name, media type and length of each part while they pass', () => {
    const framing = new MultipartFraming(BOUNDARY);
    const headers = ['content-TYPE: Application/JSON; charset=utf-8'];
    const body = bodyOf([{ name: 'metadata', payload: '12345', headers }]);
    framing.push(body.subarray(0, body.indexOf('45')));
    expect(framing.parts).toMatchObject([
      { name: 'metadata', mediaType: 'application/json', byteLength: 3, complete: false },
    ]);
    framing.push(body.subarray(body.indexOf('45')));
    framing.end();
    expect(framing.parts).toMatchObject([{ byteLength: 5, complete: true }]);
  });

  it.each([
    ['with and without a closing CR LF', (body: Buffer) => body.subarray(0, -2)],
    ['with a CR LF before the first delimiter', (body: Buffer) => Buffer.concat([Buffer.from('\r\n'), body])],
  ])('accepts a body %s', (_, change) => {
    const parts = [{ name: 'metadata', payload: '{}' }];
    for (const size of [1, 2, 3, 1000])
      expect(lengths(frame(change(bodyOf(parts)), [size]))).toEqual(sent(parts));
  });

  it('accepts a close delimiter alone as a form without parts', () => {
    expect(frame(Buffer.from(`--${BOUNDARY}--\r\n`))).toEqual([]);
  });

  it.each([
    ['name=ids', 'ids'],
    ['NAME="ids"', 'ids'],
    ['name="i\\"d\\\\s"', 'i"d\\s'],
    ['name="i%22d\\s"', 'i%22d\\s'],
    ['name="\u00ef"', '\u00ef'],
    [`filename="a;b"; filename*=UTF-8''a%3Bb; name="ids"`, 'ids'],
    ['name=""', ''],
  ])('reads the name in form-data; %s', (parameters, name) => {
    const text = `--${BOUNDARY}\r\nContent-Disposition:form-data; ${parameters}\r\n\r\nx\r\n--${BOUNDARY}--`;
    expect(frame(Buffer.from(text)).map((part) => part.name)).toEqual([name]);
  });

  it('refuses a name that is not UTF-8', () => {
    const text = `--${BOUNDARY}\r\nContent-Disposition:form-data; name="\u00ef"\r\n\r\nx\r\n--${BOUNDARY}--`;
    expect(() => frame(Buffer.from(text, 'latin1'))).toThrow(malformed);
  });

  it.each(['7bit', '8bit', 'BINARY'])('accepts the transfer encoding %s', (encoding) => {
    const headers = [`Content-Transfer-Encoding: ${encoding}`, 'Content-Length: 3'];
    expect(frame(bodyOf([{ name: 'ids', payload: 'xyz', headers }]))).toHaveLength(1);
  });

  it('accepts a header block of exactly the limit and refuses one byte more', () => {
    const lines = `Content-Disposition: form-data; name="ids"\r\n\r\n`;
    const body = Buffer.from(`--${BOUNDARY}\r\n${lines}x\r\n--${BOUNDARY}--`);
    new MultipartFraming(BOUNDARY, { maxPartHeaderBytes: lines.length }).push(body);
    for (const size of [body.length, 10]) {
      const framing = new MultipartFraming(BOUNDARY, { maxPartHeaderBytes: lines.length - 1 });
      expect(() => {
        for (let at = 0; at < body.length; at += size) framing.push(body.subarray(at, at + size));
      }).toThrow(
        expect.objectContaining({
          code: 'limit_exceeded',
          details: expect.objectContaining({ limit: 'part_header_bytes' }) as unknown,
        }),
      );
    }
  });

  it('bounds the header lines of a part, however short they are', () => {
    const disposition = 'Content-Disposition: form-data; name="a"\r\n';
    const headOf = (lines: number): Buffer =>
      Buffer.from(`--${BOUNDARY}\r\n${disposition}${'a:\r\n'.repeat(lines - 1)}\r\n`);
    const framing = new MultipartFraming(BOUNDARY);
    framing.push(headOf(64));
    expect(framing.parts).toHaveLength(1);
    expect(() => {
      new MultipartFraming(BOUNDARY).push(headOf(65));
    }).toThrow(
      expect.objectContaining({
        code: 'limit_exceeded',
        details: { limit: 'part_header_lines', expected: '64' },
      }),
    );
  });

  it('counts a header line without an end against the limit', () => {
    const framing = new MultipartFraming(BOUNDARY);
    framing.push(Buffer.from(`--${BOUNDARY}\r\n`));
    framing.push(Buffer.alloc(16 * 1024, 'a'));
    expect(() => {
      framing.push(Buffer.from('a'));
    }).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  });

  it('stays refused after the first violation', () => {
    const framing = new MultipartFraming(BOUNDARY);
    expect(() => {
      framing.push(Buffer.from('x'));
    }).toThrow(malformed);
    expect(() => {
      framing.push(bodyOf([]));
    }).toThrow(malformed);
    expect(() => {
      framing.end();
    }).toThrow(malformed);
  });

  it('takes no cut body for a whole one', () => {
    const body = bodyOf([
      { name: 'metadata', payload: '{}' },
      { name: 'ids', payload: `\r\n--${BOUNDARY.slice(0, -1)}` },
    ]);
    for (let length = 0; length < body.length - 2; length += 1) {
      expect(() => frame(body.subarray(0, length)), `the first ${length} bytes`).toThrow(malformed);
    }
  });

  it('counts payloads of near-delimiters exactly, in any pieces', () => {
    const boundary = "--'a b";
    const shards = [
      '\r',
      '\n',
      '-',
      '\r\n',
      '\r\n--',
      `\r\n--${boundary.slice(0, -1)}`,
      `\r--${boundary}`,
      'x',
    ];
    const payload = fc.array(fc.constantFrom(...shards), { maxLength: 30 }).map((list) => list.join(''));
    const parts = fc.array(payload, { maxLength: 4 });
    const sizes = fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, sizes, (payloads, pieces) => {
        const list = payloads
          // Shards can add up to the delimiter itself, which no payload may contain.
          .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${boundary}`))
          .map((text, index) => ({ name: `p${index}`, payload: text }));
        expect(lengths(frame(bodyOf(list, boundary), pieces, boundary))).toEqual(sent(list));
      }),
      { numRuns: 2_000 },
    );
  });

  it('passes a payload of carriage returns and near-delimiters in linear time', () => {
    const near = Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(3_000));
    const carriageReturns = Buffer.alloc(near.length, '\r');
    const framing = new MultipartFraming(BOUNDARY);
    framing.push(Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name=x\r\n\r\n`));
    const started = performance.now();
    for (let turn = 0; turn < 500; turn += 1) framing.push(turn % 2 === 0 ? near : carriageReturns);
    // 20 MB; quadratic work in a chunk of 39,000 bytes would take minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(framing.parts[0]?.byteLength).toBe(500 * near.length - 1);
  });
});
