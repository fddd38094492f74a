/** Sends the bytes of a proven payload; a failure on the way breaks the connection, never ends it cleanly. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Exchange } from './connections.ts';

/** How slowly a download may be taken. */
export interface DownloadPace {
  /** Nothing at all may be taken for so long. */
  readonly idleMs: number;
  /** Bytes a second, on average over each block; 0 for any. */
  readonly minBytesPerSecond: number;
}

export function downloadPaceOf({ idleSeconds, minBytesPerSecond }: Config): DownloadPace {
  return { idleMs: idleSeconds * 1000, minBytesPerSecond };
}

/**
 * Resolves when the client took the block, so that its memory may be used again; rejects as soon as nobody is there to take
 * it. A reader that takes too little is cut.
 */
function writeBlock(exchange: Exchange, block: Uint8Array, pace: DownloadPace): Promise<void> {
  const { response, signal } = exchange;
  return new Promise((resolve, reject) => {
    const allowedMs =
      pace.minBytesPerSecond === 0
        ? null
        : Math.max(pace.idleMs, (block.length / pace.minBytesPerSecond) * 1000);
    const limit =
      allowedMs === null
        ? undefined
        : setTimeout(() => {
            const seconds = Math.round(allowedMs / 1000);
            exchange.cut(`its reader took less than ${block.length} bytes in ${seconds} seconds`);
          }, allowedMs);
    const onAbort = (): void => {
      finish(new Error('The client left.'));
    };
    function finish(error?: Error | null): void {
      clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    }
    // The exchange ends with its socket, also where Node tells a queued answer nothing.
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    response.write(block, finish);
  });
}

/**
 * Writes the blocks after the head has been set. A client that takes nothing at all for the idle time is cut off. Rejects,
 * with the connection destroyed, when the blocks or the client fail.
 */
async function sendBlocks(
  exchange: Exchange,
  blocks: AsyncIterable<Uint8Array>,
  pace: DownloadPace,
): Promise<void> {
  const { response } = exchange;
  cutIdleReader(exchange, pace.idleMs);
  try {
    for await (const block of blocks) await writeBlock(exchange, block, pace);
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    response.setTimeout(0);
  }
}

/** Node's socket timeout looks at the write queue, so a slow reader of a large block counts as progress. */
export function cutIdleReader(exchange: Exchange, idleMs: number): void {
  exchange.response.setTimeout(idleMs, () => {
    exchange.cut(`its reader took nothing for ${idleMs / 1000} seconds`);
  });
}

/**
 * Sends the reply's head and then the blocks, past the framework: their memory is used again, so each must have been
 * taken by the connection before the next is read. A failure is logged and breaks the connection.
 */
export async function sendHijacked(
  request: FastifyRequest,
  reply: FastifyReply,
  blocks: AsyncIterable<Uint8Array>,
  pace: DownloadPace,
): Promise<FastifyReply> {
  const { exchange } = request;
  reply.hijack();
  if (exchange.isOver) return reply;
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  try {
    await sendBlocks(exchange, blocks, pace);
  } catch (error) {
    // A client that leaves is told in the line of its request.
    if (!exchange.signal.aborted) request.log.warn({ err: error }, 'a download was broken off');
  }
  return reply;
}
