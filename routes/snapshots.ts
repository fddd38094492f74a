/** GET /snapshots: what is published, each proven (CONTRACT, section 3). */
import type { FastifyInstance } from 'fastify';
import { nextLink } from '../src/http/paging.ts';
import { checkedQuery, listingQuery } from '../src/http/parameters.ts';
import { sendJson } from '../src/http/send-json.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export function listingRoute(app: FastifyInstance, { config, store }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/snapshots',
    handler: async (request, reply) => {
      const query = checkedQuery(listingQuery, request.query);
      const listing = await store.listSnapshots({
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.after === undefined ? {} : { after: query.after }),
        ...(query.source_namespace === undefined ? {} : { sourceNamespace: query.source_namespace }),
        ...(query.parent_id === undefined ? {} : { parentId: query.parent_id }),
      });
      const link = nextLink(`${config.basePath}/snapshots`, query, listing.next);
      if (link !== null) void reply.header('link', link);
      return sendJson(reply.header('cache-control', 'private, no-cache'), listing);
    },
  });
}
