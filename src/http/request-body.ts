/** What happens to a request's body around its handler: 100-continue, idle time, and draining what was refused. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { SnapshotError } from '../contract/errors.ts';
import { lingerAfterAnswer } from './lingering-close.ts';

const awaitsContinue = new WeakMap<IncomingMessage, ServerResponse>();
/** What is to happen when a body that is being read turns out to be broken. */
const whenBroken = new WeakMap<IncomingMessage, () => void>();
/** Bodies of which nothing more can come. */
const broken = new WeakSet<IncomingMessage>();

/**
 * Node would answer "100 Continue", or 417 to what else is expected, before any check; here the handler does the one, once
 * nothing stands against the body, and a guard the other.
 */
export function holdExpectations(server: Server): void {
  const hold = (request: IncomingMessage, response: ServerResponse): void => {
    awaitsContinue.set(request, response);
    server.emit('request', request, response);
  };
  server.on('checkContinue', hold).on('checkExpectation', hold);
}

/** Tells a client that waits with `Expect: 100-continue` to send its body. */
export function acceptBody(request: IncomingMessage): void {
  awaitsContinue.get(request)?.writeContinue();
  awaitsContinue.delete(request);
}

/**
 * Aborts with `upload_stalled` when a client that could send has sent nothing for `idleMs`. Time in which we have asked it
 * to wait does not count. Call the returned function to end the watch.
 */
export function watchIdle(request: IncomingMessage, idleMs: number, abort: AbortController): () => void {
  const onBroken = (): void => {
    abort.abort(brokenBody());
  };
  whenBroken.set(request, onBroken);
  if (broken.has(request)) onBroken();
  let seen = request.socket.bytesRead;
  const timer = setInterval(() => {
    if (request.complete || request.isPaused() || request.socket.bytesRead !== seen) {
      seen = request.socket.bytesRead;
      return;
    }
    clearInterval(timer);
    const seconds = idleMs / 1000;
    abort.abort(
      new SnapshotError(
        'upload_stalled',
        `No bytes arrived for ${seconds} seconds; nothing was published. Send the whole snapshot again.`,
        { idle_seconds: seconds },
      ),
    );
  }, idleMs);
  return () => {
    whenBroken.delete(request);
    clearInterval(timer);
  };
}

/**
 * Says that the bytes of a body are no HTTP any more, or that they ended too early: whoever reads it, now or later, stops
 * with an error to answer with. Returns false where the body is whole.
 */
export function breakBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  broken.add(request);
  whenBroken.get(request)?.();
  return true;
}

function brokenBody(): SnapshotError<'malformed_multipart'> {
  return new SnapshotError(
    'malformed_multipart',
    'The request body ends before the length that was announced, or its chunks cannot be read; nothing was published. ' +
      'Send the whole request again.',
    {},
  );
}

export interface DrainBounds {
  readonly bytes: number;
  readonly ms: number;
  /** Ends the reading when a client sends nothing for this long. */
  readonly idleMs: number;
}

/** True when bytes of the body may still come that nobody will read. */
function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed) return false;
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  );
}

/**
 * Sees to a body that nobody will read before its request is answered, so that also a client which only listens after it
 * has sent everything hears the answer. Resolves true when the connection can take another request; otherwise it is to be
 * closed after the answer, which it then does without losing it. No time is spent on what cannot end within the bounds:
 * a body that is announced longer, that is broken, or whose client waits to be asked for it.
 */
export async function disposeOfBody(request: IncomingMessage, bounds: DrainBounds): Promise<boolean> {
  if (!hasUnreadBody(request)) return true;
  const hopeless =
    awaitsContinue.has(request) ||
    broken.has(request) ||
    Number(request.headers['content-length'] ?? 0) > bounds.bytes;
  if (!hopeless && (await drain(request, bounds))) return true;
  lingerAfterAnswer(request.socket);
  request.resume();
  return false;
}

/** Reads and forgets; resolves true when the body ended within the bounds. */
function drain(request: IncomingMessage, bounds: DrainBounds): Promise<boolean> {
  return new Promise((resolve) => {
    let left = bounds.bytes;
    let idle = setTimeout(finish, bounds.idleMs, false);
    const limit = setTimeout(finish, bounds.ms, false);
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      clearTimeout(idle);
      if (left < 0) finish(false);
      else idle = setTimeout(finish, bounds.idleMs, false);
    };
    const onEnd = (): void => {
      finish(true);
    };
    const onClose = (): void => {
      finish(request.complete);
    };
    whenBroken.set(request, onClose);
    function finish(whole: boolean): void {
      clearTimeout(idle);
      clearTimeout(limit);
      whenBroken.delete(request);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(whole);
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    request.resume();
  });
}
