/** One line per request, written when it is over, however it ends: who, what, how many bytes, how long, why. */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Facts that handlers add to the request's line. */
    outcome: {
      snapshotId?: string;
      code?: string;
      attempt?: string;
      /** Bytes of the arrays that this request published. */
      payloadBytes?: number;
      bytesIn?: number;
      bytesOut?: number;
    };
  }
}

/** Bytes of a kept-alive connection that its earlier requests have been charged with. */
const counted = new WeakMap<Socket, { readonly read: number; readonly written: number }>();

export function registerRequestLog(app: FastifyInstance): void {
  app.decorateRequest('outcome');
  app.addHook('onRequest', (request, reply, done) => {
    startRequestLog(request, reply);
    done();
  });
}

/** Called by hand for a request that reaches no hook because its URL cannot be read. */
export function startRequestLog(request: FastifyRequest, reply: FastifyReply): void {
  request.outcome = {};
  const started = process.hrtime.bigint();
  const { socket } = request.raw;
  const before = counted.get(socket) ?? { read: 0, written: 0 };
  reply.raw.once('close', () => {
    const finished = reply.raw.writableFinished;
    const status = reply.raw.headersSent ? reply.raw.statusCode : null;
    const { outcome } = request;
    outcome.bytesIn = socket.bytesRead - before.read;
    outcome.bytesOut = socket.bytesWritten - before.written;
    request.log[levelOf(request, status, finished)](
      {
        method: request.method,
        path: request.raw.url,
        status,
        snapshot_id: outcome.snapshotId,
        code: outcome.code,
        attempt: outcome.attempt,
        payload_bytes: outcome.payloadBytes,
        bytes_in: outcome.bytesIn,
        bytes_out: outcome.bytesOut,
        duration_ms: Number((process.hrtime.bigint() - started) / 1000n) / 1000,
        remote: socket.remoteAddress ?? 'socket',
        user_agent: request.headers['user-agent'],
        ended: finished ? 'answered' : 'broken off',
      },
      'request',
    );
    counted.set(socket, { read: socket.bytesRead, written: socket.bytesWritten });
  });
}

const QUIET_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

function levelOf(
  request: FastifyRequest,
  status: number | null,
  finished: boolean,
): 'debug' | 'info' | 'warn' | 'error' {
  if (status !== null && status >= 500) return 'error';
  if (!finished) return 'warn';
  return QUIET_PATHS.has(request.routeOptions.url ?? '') ? 'debug' : 'info';
}
