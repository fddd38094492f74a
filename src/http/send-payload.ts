/** Sends the bytes of a proven payload; a failure on the way breaks the connection, never ends it cleanly. */
import type { ServerResponse } from 'node:http';

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
export async function sendBlocks(
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
