/** The open connections of a server and the answers they wait for, which Node knows but does not tell. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLingering } from './lingering-close.ts';

export class Connections {
  readonly #running = new Map<Socket, Map<ServerResponse, IncomingMessage>>();
  #closing = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      if (this.#closing) {
        socket.destroy();
        return;
      }
      this.#running.set(socket, new Map());
      socket.once('close', () => this.#running.delete(socket));
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#begin(request, response);
    });
  }

  /** How many connections are open, with or without a request. */
  get open(): number {
    return this.#running.size;
  }

  /** True while a request of this connection has had a part of its answer: nothing else may then be written to it. */
  isAnswering(socket: Socket): boolean {
    return [...(this.#running.get(socket)?.keys() ?? [])].some((response) => response.headersSent);
  }

  /** The requests of this connection that wait for an answer, in their order. */
  unanswered(socket: Socket): IncomingMessage[] {
    const running = [...(this.#running.get(socket) ?? [])];
    return running.filter(([response]) => !response.headersSent).map(([, request]) => request);
  }

  /** Closes what waits for nothing, also connections that never said anything, and from now on each after its last answer. */
  closeIdle(): void {
    this.#closing = true;
    for (const [socket, running] of this.#running) {
      if (running.size === 0 && !isLingering(socket)) socket.destroy();
    }
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const running = this.#running.get(socket);
    if (running === undefined) return;
    running.set(response, request);
    response.once('close', () => {
      running.delete(response);
      if (this.#closing && running.size === 0 && !isLingering(socket)) socket.destroySoon();
    });
  }
}
