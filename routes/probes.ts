/** GET /healthz and /readyz: need no token and read no payload. */
import type { FastifyInstance } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export const PROBE_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function probeRoutes(app: FastifyInstance, { store, transfers, config }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    handler: (_request, reply) => sendJson(reply, { status: 'alive' }),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: async (_request, reply) => {
      transfers.checkRunning();
      const problem = config.readOnly ? store.readProblem() : await store.writeProblem();
      if (problem !== null) throw new SnapshotError('unavailable', problem, { retry_after_seconds: 5 });
      return sendJson(reply, { status: 'ready', read_only: config.readOnly });
    },
  });
}
