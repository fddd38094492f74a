/** Bytes that are no HTTP: answered like every other refusal where that is possible, and never into another answer. */
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import type { Connections } from './connections.ts';
import { lingerAndClose } from './lingering-close.ts';
import { problemOf, PROBLEM_MEDIA_TYPE } from './problems.ts';
import { breakBody } from './request-body.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface ClientErrorOptions {
  /** Path prefix of the service, nothing or `/…`. */
  readonly basePath: string;
  /** How long the header section of a request may take. */
  readonly headerSeconds: number;
  readonly connections: () => Connections | undefined;
}

interface Refusal {
  readonly status: 400 | 408 | 413 | 431;
  readonly reason: string;
  readonly error: SnapshotError;
}

/** By the codes of Node's parser. */
function refusalOf(code: string, { headerSeconds }: ClientErrorOptions): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: 'Request Header Fields Too Large',
        error: new SnapshotError(
          'limit_exceeded',
          'The request line and the headers are longer than 16 KiB together; send fewer or shorter ones.',
          { limit: 'request_headers', expected: '16384' },
        ),
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        status: 413,
        reason: 'Content Too Large',
        error: new SnapshotError(
          'limit_exceeded',
          'The chunk extensions of the body are too long; send none.',
          {
            limit: 'chunk_extensions',
            expected: '16384',
          },
        ),
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        reason: 'Request Timeout',
        error: new SnapshotError(
          'upload_stalled',
          `The headers of the request did not arrive within ${headerSeconds} seconds; send the request again.`,
          { idle_seconds: headerSeconds },
        ),
      };
    default:
      return {
        status: 400,
        reason: 'Bad Request',
        error: new SnapshotError(
          'invalid_request',
          'The request cannot be read as HTTP/1.1 in one way only; check its first line, its headers and the framing of ' +
            'its body.',
          {},
        ),
      };
  }
}

/** For Fastify's `clientErrorHandler`: a problem document and a lingering close, or a plain end within another answer. */
export function clientErrorHandler(
  options: ClientErrorOptions,
): (this: { log: FastifyBaseLogger }, error: NodeJS.ErrnoException, socket: Socket) => void {
  return function onClientError(error, socket) {
    const code = error.code ?? 'unknown';
    if (code === 'ECONNRESET' || socket.destroyed) return;
    // Where it is the body of an upload that broke, its own answer says what became of it.
    if (options.connections()?.unanswered(socket).some(breakBody)) return;
    // The bytes of a second answer would be taken for bytes of the payload that is being sent.
    const canAnswer = socket.writable && options.connections()?.isAnswering(socket) === false;
    this.log.info(
      { reason: code, remote: socket.remoteAddress ?? 'socket' },
      'a connection is ended: not HTTP',
    );
    if (!canAnswer) {
      socket.destroy();
      return;
    }
    socket.write(rendered(refusalOf(code, options), options.basePath), 'latin1');
    lingerAndClose(socket);
    socket.pause();
  };
}

function rendered({ status, reason, error }: Refusal, basePath: string): string {
  const problem = problemOf(error, `urn:request:${crypto.randomUUID()}`, basePath);
  const body = JSON.stringify({ ...problem, status });
  const headers = {
    date: new Date().toUTCString(),
    ...SECURITY_HEADERS,
    'content-type': PROBLEM_MEDIA_TYPE,
    'content-length': body.length,
    'cache-control': 'no-store',
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n');
}
