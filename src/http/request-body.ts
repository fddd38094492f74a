/** What happens to a request's body around its handler: the pace it must keep, and draining what was refused. */
import { SnapshotError } from '../contract/errors.ts';
import type { Connections, Exchange } from './connections.ts';

/** How slowly an upload may come. Time in which the service asks its sender to wait does not count. */
export interface UploadPace {
  /** Nothing at all may arrive for so long. */
  readonly idleMs: number;
  /** Bytes a second, on average over each `windowMs`; 0 for any. */
  readonly minBytesPerSecond: number;
  readonly windowMs: number;
}

/** Looks at a window, each of them counted only while the client could send. */
const LOOKS = 10;

/**
 * Aborts the exchange with `upload_stalled` when a client that could send has sent nothing for `idleMs`, or less than the
 * pace in a whole window: a sender that drips would hold its place for ever. Call the returned function to end the watch.
 */
export function watchPace(exchange: Exchange, pace: UploadPace): () => void {
  const { request } = exchange;
  const { socket } = request;
  const everyMs = Math.max(1, Math.floor(Math.min(pace.idleMs, pace.windowMs) / LOOKS));
  let seen = socket.bytesRead;
  let idle = 0;
  let counted = 0;
  let arrived = 0;
  const timer = setInterval(() => {
    const bytes = socket.bytesRead - seen;
    seen = socket.bytesRead;
    if (request.complete || (bytes === 0 && request.isPaused())) return;
    idle = bytes === 0 ? idle + everyMs : 0;
    counted += everyMs;
    arrived += bytes;
    if (idle >= pace.idleMs) stalled(exchange, 'No bytes arrived', pace.idleMs);
    if (counted < pace.windowMs) return;
    const least = (pace.minBytesPerSecond * counted) / 1000;
    if (arrived < least)
      stalled(exchange, `Only ${arrived} bytes arrived, fewer than the least of ${least},`, counted);
    counted = 0;
    arrived = 0;
  }, everyMs);
  const end = (): void => {
    clearInterval(timer);
  };
  exchange.whenOver(end);
  return end;
}

function stalled(exchange: Exchange, what: string, ms: number): void {
  const seconds = ms / 1000;
  exchange.abort(
    new SnapshotError(
      'upload_stalled',
      `${what} for ${seconds} seconds; nothing was published. Send the whole snapshot again.`,
      { idle_seconds: seconds },
    ),
  );
}

export interface DrainBounds {
  readonly bytes: number;
  readonly ms: number;
  /** Ends the reading when a client sends nothing for this long. */
  readonly idleMs: number;
}

/**
 * Sees to a body that nobody will read before its request is answered, so that also a client which only listens after it
 * has sent everything hears the answer. Resolves true when the connection can take another request; otherwise it is to be
 * closed after the answer, which it then does without losing it. No time is spent on what cannot end within the bounds:
 * a body that is announced longer, that is broken, whose client waits to be asked for it, or while many others are drained.
 */
export async function disposeOfBody(
  exchange: Exchange,
  connections: Connections,
  bounds: DrainBounds,
): Promise<boolean> {
  if (!exchange.hasUnreadBody) return true;
  const { request, connection } = exchange;
  const hopeless =
    exchange.awaitsContinue ||
    exchange.bodyIsBroken ||
    Number(request.headers['content-length'] ?? 0) > bounds.bytes;
  if (!hopeless && connections.beginDrain()) {
    try {
      if (await drain(exchange, bounds)) return true;
    } finally {
      connections.endDrain();
    }
  }
  connection?.lingerAfterAnswer();
  request.resume();
  return false;
}

/** Reads and forgets; resolves true when the body ended within the bounds. */
function drain({ request, signal }: Exchange, bounds: DrainBounds): Promise<boolean> {
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
    function finish(whole: boolean): void {
      clearTimeout(idle);
      clearTimeout(limit);
      signal.removeEventListener('abort', onClose);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(whole);
    }
    signal.addEventListener('abort', onClose);
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    request.resume();
  });
}
