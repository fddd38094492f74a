/** One line per request, written when it is over, however it ends: who, what, how many bytes, how long, why. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Connections, Exchange, ExchangeEnd } from './connections.ts';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else looks at the request. */
    exchange: Exchange;
  }
}

/** Ties a request to its exchange, and has both log and metrics told of its end. */
export function beginExchange(
  connections: Connections,
  metrics: Metrics,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.exchange = connections.exchangeOf(request.raw, reply.raw);
  request.exchange.whenOver((end) => {
    const route = request.routeOptions.url ?? 'none';
    logEnd(request, route, end);
    metrics.countRequest(request.method, route, request.exchange.outcome, end);
  });
}

function logEnd(request: FastifyRequest, route: string, end: ExchangeEnd): void {
  const { outcome, remote } = request.exchange;
  request.log[levelOf(route, end)](
    {
      method: request.method,
      path: request.raw.url,
      status: end.status,
      snapshot_id: outcome.snapshotId,
      code: outcome.code,
      attempt: outcome.attempt,
      detail: outcome.detail,
      payload_bytes: outcome.payloadBytes,
      bytes_in: end.bytesIn,
      bytes_out: end.bytesOut,
      duration_ms: Math.round(end.seconds * 1e6) / 1000,
      remote,
      user_agent: request.headers['user-agent'],
      ended: end.ended,
      reason: end.reason,
    },
    'request',
  );
}

const QUIET_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

function levelOf(route: string, { status, ended }: ExchangeEnd): 'debug' | 'info' | 'warn' | 'error' {
  if (status !== null && status >= 500) return 'error';
  if (ended !== 'answered') return 'warn';
  return QUIET_PATHS.has(route) ? 'debug' : 'info';
}
