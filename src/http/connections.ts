/** The open connections of a server and the answers they wait for, which Node knows but does not tell. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLingering } from './lingering-close.ts';

export class Connections {
  readonly #running = new Map<Socket, Set<ServerResponse>>();
  #closing = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      if (this.#closing) {
        socket.destroy();
        return;
      }
      this.#running.set(socket, new Set());
      socket.once('close', () => this.#running.delete(socket));
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#begin(request.socket, response);
    });
  }

  /** How many connections are open, with or without a request. */
  get open(): number {
    return this.#running.size;
  }

  /** True while a request of this connection has had a part of its answer: nothing else may then be written to it. */
  isAnswering(socket: Socket): boolean {
    return [...(this.#running.get(socket) ?? [])].some((response) => response.headersSent);
  }

  /** Closes what waits for nothing, also connections that never said anything, and from now on each after its last answer. */
  closeIdle(): void {
    this.#closing = true;
    for (const [socket, running] of this.#running) {
      if (running.size === 0 && !isLingering(socket)) socket.destroy();
    }
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const running = this.#running.get(socket);
    if (running === undefined) return;
    running.add(response);
    response.once('close', () => {
      running.delete(response);
      if (this.#closing && running.size === 0 && !isLingering(socket)) socket.destroySoon();
    });
  }
}
