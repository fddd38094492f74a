/** GET /contexts: the C3 declarations in force (PW-07.01). */
import type { FastifyInstance } from 'fastify';
import { DECLARATIONS } from '../src/http/openapi/examples.ts';
import { operation } from '../src/http/openapi/operation.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const schema = operation({
  operationId: 'getContexts',
  tags: ['store'],
  summary: 'Read the fingerprint declarations in force',
  description: 'A publication names one of these contexts, with every field as it is declared here.',
  successes: [
    {
      status: 200,
      description: 'The declarations',
      content: {
        mediaType: 'application/json',
        schema: 'Declarations',
        examples: { shipped: { value: DECLARATIONS } },
      },
    },
  ],
  refusals: [],
});

export function contextsRoute(app: FastifyInstance, { store }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/contexts',
    schema,
    handler: (_request, reply) => sendJson(reply, store.declarations),
  });
}
