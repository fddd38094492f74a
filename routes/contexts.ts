/** GET /contexts: the C3 declarations in force (PW-07.01). */
import type { FastifyInstance } from 'fastify';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export function contextsRoute(app: FastifyInstance, { store }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/contexts',
    handler: (_request, reply) => sendJson(reply, store.declarations),
  });
}
