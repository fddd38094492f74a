/** GET /openapi.json: what the service understands, for programs. */
import type { FastifyInstance } from 'fastify';
import { documentOf } from '../src/http/openapi/document.ts';
import { DOCUMENT, operation } from '../src/http/openapi/operation.ts';
import { sendJson } from '../src/http/send.ts';

const schema = operation({
  tags: ['documentation'],
  operationId: 'getOpenApi',
  summary: 'Read this document',
  description: 'Its version is that of the package; `npm run openapi` writes the same document to a file.',
  successes: [
    {
      status: 200,
      description: 'OpenAPI 3.1',
      content: { mediaType: 'application/json', schema: DOCUMENT },
    },
  ],
  refusals: [],
});

export function openApiRoute(app: FastifyInstance): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    schema,
    handler: (_request, reply) => sendJson(reply, documentOf(app)),
  });
}
