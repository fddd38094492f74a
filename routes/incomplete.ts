/** GET /incomplete: attempts in staging, judged and never changed (PW-07.04, PW-07.18). */
import type { FastifyInstance } from 'fastify';
import { nextLink } from '../src/http/paging.ts';
import { checkedQuery, incompleteQuery } from '../src/http/parameters.ts';
import { downloadPaceOf, sendJson, sendJsonList } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export function incompleteRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/incomplete',
    handler: async (request, reply) => {
      const { limit, after } = checkedQuery(incompleteQuery, request.query);
      const query = { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
      const { exchange } = request;
      const { signal } = exchange;
      const done = await transfers.beginListing(exchange, limit === undefined ? 'whole' : 'page');
      void reply.header('cache-control', 'no-store');
      if (limit !== undefined) {
        const listing = await store.inspectIncomplete(query, { signal }).finally(done);
        const link = nextLink(`${config.basePath}/incomplete`, query, listing.next);
        if (link !== null) void reply.header('link', link);
        return sendJson(reply, listing);
      }
      try {
        const list = {
          head: '{"incomplete":[',
          items: store.lookAtIncomplete(query, { signal }),
          tail: '],"next":null}',
          failure: () => Promise.reject(new Error('An attempt is judged, never refused.')),
        };
        return await sendJsonList(request, reply, list, downloadPaceOf(config));
      } finally {
        done();
      }
    },
  });
}
