/** Bytes that are no request for the framework: answered like every other refusal, and never into another answer. */
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import type { Connection, Connections } from './connections.ts';
import { problemHeaders, problemOf, PROBLEM_MEDIA_TYPE } from './problems.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface ClientErrorOptions {
  /** Path prefix of the service, nothing or `/…`. */
  readonly basePath: string;
  /** How long the header section of a request may take. */
  readonly headerSeconds: number;
  readonly connections: () => Connections | undefined;
}

interface Refusal {
  readonly error: SnapshotError;
  /** Where HTTP has a more exact status for it than the problem's own. */
  readonly status?: number;
}

/** By the codes of Node's parser. */
function refusalOf(code: string, headerSeconds: number): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        error: new SnapshotError(
          'limit_exceeded',
          'The request line and the headers are longer than 16 KiB together; send fewer or shorter ones.',
          { limit: 'request_headers', expected: '16384' },
        ),
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        error: new SnapshotError(
          'limit_exceeded',
          'The chunk extensions of the body are too long; send none.',
          { limit: 'chunk_extensions', expected: '16384' },
        ),
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        error: new SnapshotError(
          'upload_stalled',
          `The headers of the request did not arrive within ${headerSeconds} seconds; send the request again.`,
          { idle_seconds: headerSeconds },
        ),
      };
    default:
      return {
        error: new SnapshotError(
          'invalid_request',
          'The request cannot be read as HTTP/1.1 in one way only; check its first line, its headers and the framing of ' +
            'its body.',
          {},
        ),
      };
  }
}

/** For Fastify's `clientErrorHandler`: a problem document and a lingering close, after the answers that are under way. */
export function clientErrorHandler({
  basePath,
  headerSeconds,
  connections,
}: ClientErrorOptions): (
  this: { log: FastifyBaseLogger },
  error: NodeJS.ErrnoException,
  socket: Socket,
) => void {
  return function onClientError(error, socket) {
    const code = error.code ?? 'unknown';
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const connection = connections()?.of(socket);
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    const { current } = connection;
    if (current !== null && !current.request.complete) {
      // It is the body of that request that broke: its own answer says what became of it, unless it is under way already.
      if (current.response.headersSent) current.cut(`the body cannot be read: ${code}`);
      else current.breakBody();
      return;
    }
    connection.sayLast(() => {
      this.log.info({ reason: code, remote: connection.remote }, 'a connection is ended: not HTTP');
      refuseRaw(connection, refusalOf(code, headerSeconds), basePath);
    });
  };
}

/** CONNECT asks for a tunnel, for which Node bypasses the framework; there is none here (RFC 9110, 9.3.6). */
export function refuseTunnels(connections: Connections, log: FastifyBaseLogger, basePath: string): void {
  connections.server.on('connect', (request: IncomingMessage, stream: Duplex) => {
    const connection = connections.of(stream);
    stream.on('error', () => {
      stream.destroy();
    });
    if (connection === undefined) {
      stream.destroy();
      return;
    }
    connection.sayLast(() => {
      log.info({ method: request.method, remote: connection.remote, status: 405 }, 'request');
      const error = new SnapshotError(
        'method_not_allowed',
        'CONNECT cannot be used here: this service is no proxy. Use GET, HEAD or POST with a path of its own.',
        { allow: ['GET', 'HEAD', 'POST'] },
      );
      refuseRaw(connection, { error }, basePath);
    });
  });
}

function refuseRaw(connection: Connection, refusal: Refusal, basePath: string): void {
  const { socket } = connection;
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(rendered(refusal, basePath), 'latin1');
  connection.linger();
  socket.pause();
}

function rendered({ error, status }: Refusal, basePath: string): string {
  const problem = problemOf(error, `urn:request:${crypto.randomUUID()}`, basePath);
  const code = status ?? problem.status;
  const body = JSON.stringify({ ...problem, status: code });
  const headers = {
    date: new Date().toUTCString(),
    ...SECURITY_HEADERS,
    ...problemHeaders(error),
    'content-type': PROBLEM_MEDIA_TYPE,
    'content-length': body.length,
    'cache-control': 'no-store',
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`, ...lines, '', body].join('\r\n');
}
