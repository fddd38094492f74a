/** Sends the bytes of a proven payload; a failure on the way breaks the connection, never ends it cleanly. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Resolves when the client took the block, so that its memory may be used again. */
function writeBlock(response: ServerResponse, block: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      finish(new Error('The client went away.'));
    };
    function finish(error?: Error | null): void {
      response.off('close', onClose);
      if (error) reject(error);
      else resolve();
    }
    if (response.destroyed) {
      finish(new Error('The client went away.'));
      return;
    }
    response.on('close', onClose);
    response.write(block, finish);
  });
}

/**
 * Writes the blocks after the head has been set. A client that takes nothing at all for `idleMs` is cut off, however
 * slowly others read. Resolves with the bytes written; rejects, with the connection destroyed, when the blocks or the
 * client fail.
 */
async function sendBlocks(
  response: ServerResponse,
  blocks: AsyncIterable<Uint8Array>,
  idleMs: number,
): Promise<number> {
  let sent = 0;
  // Node's socket timeout looks at the write queue, so a slow reader of a large block counts as progress.
  response.setTimeout(idleMs, () => {
    response.destroy();
  });
  try {
    for await (const block of blocks) {
      await writeBlock(response, block);
      sent += block.length;
    }
    response.end();
    return sent;
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    response.setTimeout(0);
  }
}

/**
 * Sends the reply's head and then the blocks, past the framework: their memory is used again, so each must have been
 * taken by the connection before the next is read. A failure is logged and breaks the connection.
 */
export async function sendHijacked(
  request: FastifyRequest,
  reply: FastifyReply,
  blocks: AsyncIterable<Uint8Array>,
  idleMs: number,
): Promise<FastifyReply> {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  try {
    await sendBlocks(reply.raw, blocks, idleMs);
  } catch (error) {
    request.log.warn({ err: error }, 'a download was broken off');
  }
  return reply;
}
