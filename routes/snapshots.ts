/** GET /snapshots: what is published, each proven (CONTRACT, section 3). */
import type { FastifyInstance } from 'fastify';
import { nextLink } from '../src/http/paging.ts';
import { checkedQuery, listingQuery } from '../src/http/parameters.ts';
import { downloadPaceOf, sendJson, sendJsonList } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import { failureOf, type ListingQuery } from '../src/store/listing.ts';

export function listingRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/snapshots',
    handler: async (request, reply) => {
      const parameters = checkedQuery(listingQuery, request.query);
      const { source_namespace: sourceNamespace, parent_id: parentId, ...rest } = parameters;
      const query = withoutAbsent({ ...rest, sourceNamespace, parentId }) as ListingQuery;
      const { exchange } = request;
      const { signal } = exchange;
      const isPage = query.limit !== undefined;
      const done = await transfers.beginListing(exchange, isPage ? 'page' : 'whole');
      void reply.header('cache-control', 'private, no-cache');
      if (isPage) {
        const listing = await store.listSnapshots(query, { signal }).finally(done);
        const link = nextLink(`${config.basePath}/snapshots`, parameters, listing.next);
        if (link !== null) void reply.header('link', link);
        return sendJson(reply, listing);
      }
      try {
        const list = {
          head: `{"proof":"${query.proof ?? 'all'}","snapshots":[`,
          items: store.lookAtSnapshots(query, { signal }),
          tail: '],"next":null}',
          failure: failureOf,
        };
        return await sendJsonList(request, reply, list, downloadPaceOf(config));
      } finally {
        done();
      }
    },
  });
}

function withoutAbsent(query: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
