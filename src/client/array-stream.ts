/** Streams an array or a part of it, goes on where a connection broke, and proves what it can (PW-07.03). */
import { createHash } from 'node:crypto';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import { arrayInfo, type ArrayInfo } from './array-info.ts';
import { contentLength, expectStatus } from './answers.ts';
import { ChecksumMismatchError, ConnectionError, ProtocolError, TimeoutError } from './errors.ts';
import { arrayPath } from './names.ts';
import { invalid } from './options.ts';
import { UnavailableError } from './problem-errors.ts';
import { isGatewayFailure, pauseAfter, wait } from './retries.ts';
import type { Answer, Transport } from './transport.ts';

export interface StreamOptions {
  /** First byte; 0 by default. */
  readonly start?: number;
  /** One after the last byte; the end of the array by default or where it lies beyond it. */
  readonly end?: number;
  readonly signal?: AbortSignal;
}

/**
 * The bytes of an array. A connection that breaks or stalls is followed by a Range request for the rest, under If-Range,
 * so that no two versions are ever mixed. A read of the whole array throws `ChecksumMismatchError` at its end if the
 * bytes are not those of its SHA-256: use them only once the iteration has ended. A part cannot be proven by itself.
 */
export async function* streamArray(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  { start = 0, end, signal }: StreamOptions = {},
  onInfo: (info: ArrayInfo) => void = () => undefined,
): AsyncGenerator<Uint8Array, void, void> {
  checkRange(start, end);
  const path = arrayPath(id, key);
  const hash = createHash('sha256');
  let at = start;
  let failures = 0;
  let first: ArrayInfo | null = null;
  while (first === null || at < stopOf(first, end)) {
    try {
      const { answer, info } = await openFrom(transport, path, { at, end, first, signal });
      const stop = stopOf(info, end);
      try {
        if (first === null) onInfo(info);
        first = info;
        for await (const chunk of bytesBetween(answer, at, stop, info.byteLength)) {
          at += chunk.length;
          failures = 0;
          hash.update(chunk);
          yield chunk;
        }
      } finally {
        answer.discard();
      }
      if (at < stop) throw cutShort(path, stop - at);
    } catch (error) {
      failures += 1;
      const pause = mayResume(error) ? pauseAfter(failures, error, transport.retry) : null;
      if (pause === null) throw error;
      await wait(pause, signal);
    }
  }
  const whole = start === 0 && at === first.byteLength;
  if (whole) prove(`array ${key} of ${id}`, first.sha256, hash.digest('hex'));
}

function stopOf({ byteLength }: ArrayInfo, end: number | undefined): number {
  return Math.min(end ?? byteLength, byteLength);
}

interface Position {
  readonly at: number;
  readonly end: number | undefined;
  /** What the first answer said of the array. */
  readonly first: ArrayInfo | null;
  readonly signal: AbortSignal | undefined;
}

async function openFrom(
  transport: Transport,
  path: string,
  { at, end, first, signal }: Position,
): Promise<{ answer: Answer; info: ArrayInfo }> {
  const headers: Record<string, string> = {};
  if (at > 0 || end !== undefined) headers['range'] = `bytes=${at}-${end === undefined ? '' : end - 1}`;
  if (first !== null && headers['range'] !== undefined) headers['if-range'] = first.etag;
  const answer = await expectStatus(await transport.request(path, { headers, signal }), 200, 206);
  const info = arrayInfo(answer);
  if (first !== null && info.etag !== first.etag) {
    answer.discard();
    throw new ProtocolError(`The array at ${path} changed while it was read; a published array never does.`, {
      status: answer.status,
    });
  }
  checkExtent(answer, info, at, end);
  return { answer, info };
}

/** The answer must hold exactly the bytes asked for, or, with status 200, all of them. */
function checkExtent(answer: Answer, info: ArrayInfo, at: number, end: number | undefined): void {
  const total = info.byteLength;
  const stop = stopOf(info, end);
  let length = total;
  if (answer.status === 206) {
    length = stop - at;
    const found = answer.header('content-range');
    const expected = `bytes ${at}-${stop - 1}/${total}`;
    if (found !== expected) {
      answer.discard();
      throw new ProtocolError(`Expected Content-Range "${expected}", found ${found ?? 'none'}.`, {
        status: 206,
      });
    }
  }
  const declared = contentLength(answer);
  if (declared !== null && declared !== length) {
    answer.discard();
    throw new ProtocolError(`Expected ${length} bytes of the array, found a Content-Length of ${declared}.`, {
      status: answer.status,
    });
  }
}

/** A server that ignores Range sends everything: what was not asked for is skipped. */
async function* bytesBetween(
  answer: Answer,
  at: number,
  stop: number,
  total: number,
): AsyncGenerator<Uint8Array, void, void> {
  let position = answer.status === 206 ? at : 0;
  for await (const chunk of answer.chunks()) {
    const wanted = chunk.subarray(Math.max(0, at - position), Math.max(0, stop - position));
    position += chunk.length;
    if (wanted.length > 0) yield wanted;
    // Reading a wanted answer to its end keeps the connection; leaving an unwanted rest ends it.
    if (position >= stop && stop < total && answer.status === 200) return;
  }
}

function mayResume(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof TimeoutError && error.phase === 'body') ||
    error instanceof UnavailableError ||
    isGatewayFailure(error)
  );
}

function checkRange(start: number, end: number | undefined): void {
  if (!Number.isSafeInteger(start) || start < 0) {
    throw invalid(`start must be a whole number of bytes of at least 0; found ${start}.`);
  }
  if (end !== undefined && (!Number.isSafeInteger(end) || end <= start)) {
    throw invalid(`end must be a whole number of bytes greater than start ${start}; found ${end}.`);
  }
}

function cutShort(path: string, missing: number): ConnectionError {
  return new ConnectionError(`${path}: the answer ended ${missing} bytes early.`);
}

function prove(what: string, expected: string, actual: string): void {
  if (actual !== expected) throw new ChecksumMismatchError(what, expected, actual);
}
