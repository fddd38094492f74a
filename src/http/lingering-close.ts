/** Closing a connection whose client may still send, so that the answer is not lost to a reset (RFC 9112, 9.6). */
import type { Socket } from 'node:net';

/** How long the client has for reading the answer after our side is closed, and how much of it is still read. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 10;

const lingering = new WeakSet<Socket>();

/** True once our side of the connection is closed and only the client's last bytes are awaited. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/**
 * Closes our side at once and the connection when the client has closed its own, or after a bounded while. To close both
 * sides while bytes are unread makes the kernel send a reset, and that may overtake the answer.
 */
export function lingerAndClose(socket: Socket): void {
  if (socket.destroyed || lingering.has(socket)) return;
  lingering.add(socket);
  const start = socket.bytesRead;
  const limit = setTimeout(() => socket.destroy(), LINGER_MS);
  // The HTTP parser reads past the stream, so its bytes can be counted but not listened for.
  const look = setInterval(() => {
    if (socket.bytesRead - start > LINGER_BYTES) socket.pause();
  }, LOOK_EVERY_MS);
  socket.once('close', () => {
    clearTimeout(limit);
    clearInterval(look);
  });
  socket.end();
}

/** Makes the connection linger when its last answer has left; Node would close both sides. */
export function lingerAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => {
    lingerAndClose(socket);
  };
}
