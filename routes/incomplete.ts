/** GET /incomplete: attempts in staging, judged and never changed (PW-07.04, PW-07.18). */
import type { FastifyInstance } from 'fastify';
import { nextLink } from '../src/http/paging.ts';
import { checkedQuery, incompleteQuery } from '../src/http/parameters.ts';
import { sendJson } from '../src/http/send-json.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export function incompleteRoute(app: FastifyInstance, { config, store }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/incomplete',
    handler: async (request, reply) => {
      const query = checkedQuery(incompleteQuery, request.query);
      const listing = await store.inspectIncomplete({
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.after === undefined ? {} : { after: query.after }),
      });
      const link = nextLink(`${config.basePath}/incomplete`, query, listing.next);
      if (link !== null) void reply.header('link', link);
      return sendJson(reply.header('cache-control', 'no-store'), listing);
    },
  });
}
