/** GET /openapi.json: what the service understands, for programs. */
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../src/http/openapi/document.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export function openApiRoute(app: FastifyInstance, { config }: ServiceContext): void {
  const document = openApiDocument(config.basePath);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: (_request, reply) => sendJson(reply, document),
  });
}
