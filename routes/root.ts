/** GET and HEAD of the service's own address: whoever opens it in a browser is led to the pages. */
import type { FastifyInstance } from 'fastify';
import { nothingHere } from '../src/http/error-handler.ts';
import { operation } from '../src/http/openapi/operation.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const HTML = /(?:^|,)[ \t]*text\/html[ \t]*(?:[;,]|$)/iu;

const schema = operation({
  tags: ['documentation'],
  operationId: 'getRoot',
  summary: 'Be led to the interactive page',
  description: 'For browsers, that is where Accept names text/html; everyone else is told where to look.',
  successes: [{ status: 302, description: 'To /docs', headers: ['Location', 'Content-Length'] }],
  refusals: ['not_found'],
});

export function rootRoute(app: FastifyInstance, { config: { basePath } }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    schema,
    // Under a base path the address ends in a slash, as a folder's does.
    prefixTrailingSlash: 'slash',
    handler: (request, reply) => {
      // For programs there is nothing here, and saying so beats a page that they did not ask for.
      if (!HTML.test(request.headers.accept ?? '')) throw nothingHere(basePath);
      return reply
        .code(302)
        .header('location', `${basePath}/docs`)
        .header('cache-control', 'no-store')
        .send();
    },
  });
}
