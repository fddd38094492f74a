/** GET /metrics: counters and gauges in Prometheus' text format. */
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../src/http/metrics.ts';

export function metricsRoute(app: FastifyInstance, { registry }: Metrics): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/metrics',
    handler: async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .header('content-type', registry.contentType)
        .send(await registry.metrics()),
  });
}
