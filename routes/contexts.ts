/** GET /contexts: the C3 declarations in force (PW-07.01). */
import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../src/http/service-context.ts';

export function contextsRoute(app: FastifyInstance, { store }: ServiceContext): void {
  const body = JSON.stringify(store.declarations);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/contexts',
    handler: (_request, reply) => reply.header('content-type', 'application/json').send(body),
  });
}
