/**
 * The one Node server under the framework and its connections. Requests of one connection are taken one after the other
 * (RFC 9112, 9.3.2): what is pipelined behind a request waits until its answer has left, and whatever a request holds
 * ends with its socket.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { SnapshotError } from '../contract/errors.ts';
import { shareOf } from '../shares.ts';

const MAX_HEADER_SECONDS = 60;
/** Longer than what clients and proxies usually keep, so that they close first and no request meets a closing end. */
const KEEP_ALIVE_MS = 72_000;

/** Waiting requests of one connection from which on it is no longer read; what one read brought (64 KiB) may be more. */
const READ_AHEAD = 16;
/** Waiting requests of all connections; a connection that wants more is ended. Each is a few KiB. */
const MAX_WAITING = 10_000;

/** How long a client has for reading the answer after our side is closed, and how much of it is still read. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 10;
/** Connections that may linger, and refused bodies that may be drained, at once; beyond, they are ended without. */
const MAX_LINGERING = 256;
const MAX_DRAINS = 64;

/** Facts that handlers add to what is told of a request. */
export interface Outcome {
  snapshotId?: string;
  code?: string;
  attempt?: string;
  /** Why an attempt was refused. */
  detail?: string;
  /** Bytes of the arrays that this request published. */
  payloadBytes?: number;
}

/** How a request ended. */
export interface ExchangeEnd {
  /** Null where no answer was begun. */
  readonly status: number | null;
  readonly ended: 'answered' | 'client left' | 'cut by the service';
  /** Why the service cut it. */
  readonly reason: string | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly seconds: number;
}

/** Why what still runs for a request is ended with it; one for all, as each would cost its stack. */
const OVER = new Error('The client left, or its answer was complete.');

/** One request and its answer: what of its body is expected, broken or left, and when all that it holds must end. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly outcome: Outcome = {};
  /** Null for a request that came over no connection of this server. */
  readonly connection: Connection | null;
  readonly #started = performance.now();
  readonly #listeners: ((end: ExchangeEnd) => void)[] = [];
  #abort: AbortController | null = null;
  #abortReason: Error | null = null;
  #expectsContinue: boolean;
  #bodyBroken = false;
  #cutReason: string | undefined;
  #over = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection | null = null,
    expectsContinue = false,
  ) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.#expectsContinue = expectsContinue;
    response.once('close', () => {
      this.#end();
    });
  }

  /** Where the client is, as it was when the connection began; `socket` for one without an address. */
  get remote(): string {
    return this.connection?.remote ?? 'socket';
  }

  /** Aborts when the client leaves, its body breaks or stalls, or the service cuts it; its reason says which. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#abortReason !== null && !this.#abort.signal.aborted) this.#abort.abort(this.#abortReason);
    return this.#abort.signal;
  }

  /** Aborts what runs for this request; the first reason stays. */
  abort(reason: Error): void {
    if (this.#abortReason !== null) return;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  /** True once nobody is there to be answered. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Ends the connection, for a reason that the log tells. */
  cut(reason: string): void {
    this.#cutReason ??= reason;
    this.response.destroy();
  }

  /** Called once, when the answer has left or the connection is gone; at once where that has happened. */
  whenOver(listener: (end: ExchangeEnd) => void): void {
    if (this.#over) listener(this.#facts());
    else this.#listeners.push(listener);
  }

  /** True while the client waits to be asked for its body (`Expect: 100-continue`). */
  get awaitsContinue(): boolean {
    return this.#expectsContinue;
  }

  /** Asks for the body. Node would do so, or answer 417 to what else is expected, before any check. */
  acceptBody(): void {
    if (this.#expectsContinue) this.response.writeContinue();
    this.#expectsContinue = false;
  }

  /** True when nothing more can come of the body: it ended too early, or its bytes are no HTTP any more. */
  get bodyIsBroken(): boolean {
    return this.#bodyBroken;
  }

  /** Says so to whoever reads the body, now or later. */
  breakBody(): void {
    if (this.#bodyBroken) return;
    this.#bodyBroken = true;
    this.abort(
      new SnapshotError(
        'malformed_multipart',
        'The request body ends before the length that was announced, or its chunks cannot be read; nothing was published. ' +
          'Send the whole request again.',
        {},
      ),
    );
  }

  /** True when bytes of the body may still come that nobody will read. */
  get hasUnreadBody(): boolean {
    const { complete, destroyed, headers } = this.request;
    if (complete || destroyed) return false;
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.abort(OVER);
    const facts = this.#facts();
    for (const listener of this.#listeners.splice(0)) listener(facts);
    this.connection?.charge();
  }

  #facts(): ExchangeEnd {
    const { response, connection } = this;
    // Who ends a body before its length has gone, although an answer could still be written.
    const leftEarly = this.#bodyBroken && connection?.socket.readableEnded === true;
    const whole = response.writableFinished && !leftEarly;
    return {
      status: response.headersSent ? response.statusCode : null,
      ended: this.#cutReason !== undefined ? 'cut by the service' : whole ? 'answered' : 'client left',
      reason: this.#cutReason,
      bytesIn: connection?.bytesIn ?? 0,
      bytesOut: connection?.bytesOut ?? 0,
      seconds: (performance.now() - this.#started) / 1000,
    };
  }
}

/** One connection: the request that is being answered, those that wait behind it, and how it closes. */
export class Connection {
  readonly socket: Socket;
  readonly remote: string;
  readonly #all: Connections;
  readonly #waiting: Exchange[] = [];
  #current: Exchange | null = null;
  /** What is said after the last answer, where bytes follow that are no request. */
  #lastWord: (() => void) | null = null;
  #lingering = false;
  #chargedIn = 0;
  #chargedOut = 0;

  constructor(socket: Socket, all: Connections) {
    this.socket = socket;
    this.remote = socket.remoteAddress ?? 'socket';
    this.#all = all;
    socket.once('close', () => {
      all.drop(this, this.#waiting.splice(0).length);
    });
  }

  get current(): Exchange | null {
    return this.#current;
  }

  get isIdle(): boolean {
    return this.#current === null && !this.#lingering;
  }

  /** Bytes read and written that no earlier request has been charged with. */
  get bytesIn(): number {
    return this.socket.bytesRead - this.#chargedIn;
  }

  get bytesOut(): number {
    return this.socket.bytesWritten - this.#chargedOut;
  }

  charge(): void {
    this.#chargedIn = this.socket.bytesRead;
    this.#chargedOut = this.socket.bytesWritten;
  }

  /** Takes a request at once, or when those before it have been answered. */
  take(exchange: Exchange): void {
    if (this.#current === null) {
      this.#serve(exchange);
      return;
    }
    if (!this.#all.addWaiting(1)) {
      this.socket.destroy();
      return;
    }
    this.#waiting.push(exchange);
    if (this.#waiting.length >= READ_AHEAD) this.socket.pause();
  }

  /**
   * Says the last word on this connection: now, or after the answers that are under way. It must not be written into the
   * midst of one, whose bytes it would be taken for.
   */
  sayLast(word: () => void): void {
    if (this.#lastWord !== null || this.#lingering) return;
    if (this.#current === null) {
      word();
      return;
    }
    this.#lastWord = word;
    this.socket.pause();
  }

  /**
   * Closes our side at once and the connection when the client has closed its own, or after a bounded while. To close both
   * sides while bytes are unread makes the kernel send a reset, and that may overtake the answer (RFC 9112, 9.6).
   */
  linger(): void {
    const { socket } = this;
    if (socket.destroyed || this.#lingering) return;
    this.#lingering = true;
    const mayLinger = this.#all.addLingering();
    // What Node ends after the last answer of a connection, it would destroy as soon as that is written.
    // eslint-disable-next-line @typescript-eslint/unbound-method -- the very function that Node has registered
    socket.off('finish', socket.destroy);
    const start = socket.bytesRead;
    const limit = setTimeout(() => socket.destroy(), mayLinger ? LINGER_MS : 0);
    // The HTTP parser reads past the stream, so its bytes can be counted but not listened for.
    const look = setInterval(() => {
      if (socket.bytesRead - start > LINGER_BYTES) socket.pause();
    }, LOOK_EVERY_MS);
    socket.once('close', () => {
      clearTimeout(limit);
      clearInterval(look);
      if (mayLinger) this.#all.removeLingering();
    });
    socket.end();
  }

  /** Makes the connection linger when the answer under way has left. */
  lingerAfterAnswer(): void {
    this.#lastWord = () => {
      this.linger();
    };
  }

  #serve(exchange: Exchange): void {
    this.#current = exchange;
    exchange.response.once('close', () => {
      this.#next();
    });
    this.#all.serve(exchange);
  }

  #next(): void {
    this.#current = null;
    if (this.socket.destroyed || this.#lingering) return;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#all.addWaiting(-1);
      if (this.#waiting.length < READ_AHEAD && this.#lastWord === null) this.socket.resume();
      this.#serve(next);
    } else if (this.#lastWord !== null) {
      this.#lastWord();
    } else if (this.#all.isClosing) {
      this.socket.destroySoon();
    }
  }
}

/** The connections of one server. */
export class Connections {
  readonly server: Server;
  /** The same server where it speaks TLS. */
  readonly #secure: SecureServer | null;
  /** What TLS is spoken over, or will be when the handshake is done. */
  readonly #raw = new Set<Socket>();
  readonly #listener: RequestListener;
  readonly #open = new Map<Duplex, Connection>();
  readonly #maxWaiting: number;
  readonly #maxLingering: number;
  readonly #maxDrains: number;
  #waiting = 0;
  #lingering = 0;
  #drains = 0;
  #closing = false;
  #adopts = false;
  #ended: (() => void) | null = null;

  /**
   * @param listener answers one request; never called for two of one connection at a time
   * @param idleSeconds bound of everything that a client lets wait
   * @param tls certificate and key; null for plain HTTP
   * @param processes that share the bounds
   */
  constructor(
    listener: RequestListener,
    idleSeconds: number,
    tls: SecureContextOptions | null = null,
    processes = 1,
  ) {
    this.#listener = listener;
    this.#maxWaiting = shareOf(MAX_WAITING, processes);
    this.#maxLingering = shareOf(MAX_LINGERING, processes);
    this.#maxDrains = shareOf(MAX_DRAINS, processes);
    const headersTimeout = headerSecondsOf(idleSeconds) * 1000;
    const options: ServerOptions = {
      headersTimeout,
      connectionsCheckingInterval: Math.min(headersTimeout / 2, 15_000),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Uploads and downloads take as long as they take; their idle time is bounded where they run.
      requestTimeout: 0,
      // A missing Host is refused by the guard, like every other wrong one.
      requireHostHeader: false,
    };
    this.#secure =
      tls === null ? null : createSecureServer({ ...options, ...tls, handshakeTimeout: headersTimeout });
    this.server = this.#secure ?? createServer(options);
    // Bounded by their bytes (16 KiB); of more lines than a maximum Node would drop the rest without a word.
    this.server.maxHeadersCount = 0;
    this.server.on(this.#secure === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      if (this.#closing) socket.destroy();
      else this.#open.set(socket, new Connection(socket, this));
    });
    this.#secure?.on('connection', (socket: Socket) => {
      this.#raw.add(socket);
      socket.once('close', () => {
        this.#raw.delete(socket);
        this.#lookWhetherEnded();
      });
    });
    const take = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#open.get(request.socket);
      connection?.take(new Exchange(request, response, connection, expectsContinue));
    };
    this.server.on('request', take(false)).on('checkContinue', take(true)).on('checkExpectation', take(true));
  }

  /** How many connections are open, with or without a request. */
  get size(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  of(socket: Duplex): Connection | undefined {
    return this.#open.get(socket);
  }

  /** For connections made from now on. Throws for what cannot be used. */
  renewTls(tls: SecureContextOptions): void {
    this.#secure?.setSecureContext(tls);
  }

  /** The exchange of a request that is being answered; one of its own for a request that came over no connection. */
  exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
    const current = this.#open.get(request.socket)?.current;
    return current?.request === request ? current : new Exchange(request, response);
  }

  /** Closes what waits for nothing, also connections that never said anything, and from now on each after its last answer. */
  closeIdle(): void {
    this.#closing = true;
    for (const [socket, connection] of this.#open) if (connection.isIdle) socket.destroy();
    const inUse = new Set([...this.#open.values()].map(({ socket }) => socket.remotePort));
    for (const socket of this.#raw) if (!inUse.has(socket.remotePort)) socket.destroy();
  }

  /** Begins to drain a refused body; false where as many are being drained as may. */
  beginDrain(): boolean {
    if (this.#drains >= this.#maxDrains) return false;
    this.#drains += 1;
    return true;
  }

  endDrain(): void {
    this.#drains -= 1;
  }

  serve({ request, response }: Exchange): void {
    this.#listener(request, response);
  }

  addWaiting(count: number): boolean {
    if (this.#waiting + count > this.#maxWaiting) return false;
    this.#waiting += count;
    return true;
  }

  addLingering(): boolean {
    if (this.#lingering >= this.#maxLingering) return false;
    this.#lingering += 1;
    return true;
  }

  removeLingering(): void {
    this.#lingering -= 1;
  }

  drop({ socket }: Connection, waiting: number): void {
    this.#open.delete(socket);
    this.#waiting -= waiting;
    this.#lookWhetherEnded();
  }

  /** Takes a connection that another process has accepted; it is served like one of this process' own. */
  adopt(socket: Socket): void {
    if (!this.#adopts) {
      this.#adopts = true;
      // Where Node begins to watch how long headers take: for a server that others listen for nobody else says so.
      this.server.emit('listening');
    }
    this.server.emit('connection', socket);
  }

  /** Takes no more connections, and resolves when the last one is over. */
  async end(): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    this.server.close();
    this.#lookWhetherEnded();
    await ended;
  }

  #lookWhetherEnded(): void {
    if (this.#open.size === 0 && this.#raw.size === 0) this.#ended?.();
  }
}

/** Seconds in which the headers of a request must be there. */
export function headerSecondsOf(idleSeconds: number): number {
  return Math.min(idleSeconds, MAX_HEADER_SECONDS);
}
