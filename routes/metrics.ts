/** GET /metrics: counters and gauges in Prometheus' text format. */
import type { FastifyInstance } from 'fastify';
import { operation } from '../src/http/openapi/operation.ts';
import type { Metrics } from '../src/http/metrics.ts';

const schema = operation({
  operationId: 'getMetrics',
  tags: ['operating'],
  summary: 'Read counters and gauges',
  description:
    'Requests, publications, bytes, proofs and the disk, in the text format that Prometheus scrapes.',
  successes: [
    {
      status: 200,
      description: "Prometheus' text format",
      content: { mediaType: 'text/plain; version=0.0.4; charset=utf-8', schema: { type: 'string' } },
    },
  ],
  refusals: [],
});

export function metricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/metrics',
    schema,
    handler: async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .header('content-type', metrics.contentType)
        .send(await metrics.text()),
  });
}
