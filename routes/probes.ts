/** GET /healthz and /readyz: need no token and read no payload. */
import type { FastifyInstance } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import { operation } from '../src/http/openapi/operation.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export const PROBE_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

const aliveSchema = operation({
  operationId: 'isAlive',
  tags: ['operating'],
  summary: 'Tell whether the process answers',
  probe: true,
  description: 'Looks at nothing: whoever gets it knows that the process takes requests.',
  successes: [
    {
      status: 200,
      description: 'It does',
      content: {
        mediaType: 'application/json',
        schema: 'Alive',
        examples: { alive: { value: { status: 'alive' } } },
      },
    },
  ],
  refusals: [],
});

const readySchema = operation({
  operationId: 'isReady',
  tags: ['operating'],
  summary: 'Tell whether requests can be served',
  description:
    'The root can be written, the disk has room, and the service is not stopping. Reads no payload.',
  probe: true,
  successes: [
    {
      status: 200,
      description: 'They can',
      content: {
        mediaType: 'application/json',
        schema: 'Ready',
        examples: { ready: { value: { status: 'ready', read_only: false } } },
      },
    },
  ],
  refusals: ['unavailable'],
});

export function probeRoutes(app: FastifyInstance, { store, transfers, config }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    schema: aliveSchema,
    handler: (_request, reply) => sendJson(reply, { status: 'alive' }),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    schema: readySchema,
    handler: async (_request, reply) => {
      transfers.checkRunning();
      const problem = await (config.readOnly ? store.readProblem() : store.writeProblem());
      if (problem !== null) throw new SnapshotError('unavailable', problem, { retry_after_seconds: 5 });
      return sendJson(reply, { status: 'ready', read_only: config.readOnly });
    },
  });
}
