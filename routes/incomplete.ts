/** GET /incomplete: attempts in staging, judged and never changed (PW-07.04, PW-07.18). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { INCOMPLETE } from '../src/http/openapi/examples.ts';
import { operation } from '../src/http/openapi/operation.ts';
import { nextLink } from '../src/http/paging.ts';
import { limitQuery, nameCursorQuery } from '../src/http/parameters.ts';
import { downloadPaceOf, sendJson, sendJsonList } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const querystring = z.strictObject({
  limit: limitQuery.optional(),
  after: nameCursorQuery.optional().describe('Only names after this one: `next` of the page before'),
});

const schema = operation({
  operationId: 'listIncomplete',
  tags: ['store'],
  summary: 'List attempts that are no snapshots',
  description:
    'Running publications and what failed ones left, judged and never changed. A VALIDATED attempt is no snapshot.',
  querystring,
  successes: [
    {
      status: 200,
      description: 'A page of attempts',
      headers: ['Link'],
      content: {
        mediaType: 'application/json',
        schema: 'IncompleteListing',
        examples: { one: { value: INCOMPLETE } },
      },
    },
  ],
  refusals: ['storage_integrity'],
});

export function incompleteRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route<{ Querystring: z.output<typeof querystring> }>({
    method: ['GET', 'HEAD'],
    url: '/incomplete',
    schema,
    handler: async (request, reply) => {
      const { limit, after } = request.query;
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
