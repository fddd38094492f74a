/** GET /snapshots: what is published, each proven (CONTRACT, section 3). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { isUint64, UINT64_PATTERN } from '../src/contract/uint64.ts';
import { LISTING } from '../src/http/openapi/examples.ts';
import { operation } from '../src/http/openapi/operation.ts';
import { nextLink } from '../src/http/paging.ts';
import { checkCursor, idQuery, limitQuery } from '../src/http/parameters.ts';
import { downloadPaceOf, sendJson, sendJsonList } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import type { ListingQuery } from '../src/store/listing.ts';

const NANOSECONDS = 'expected epoch nanoseconds: a decimal number without sign or leading zeros';
const nanoseconds = z
  .string(NANOSECONDS)
  .refine(isUint64, NANOSECONDS)
  .meta({ pattern: UINT64_PATTERN.source })
  .optional();

const querystring = z
  .strictObject({
    limit: limitQuery.optional(),
    after: z
      .string()
      .optional()
      .meta({
        description: '`next` of the page before, in the same order; in the order of ids any id',
        pattern: '^(?:(?:0|[1-9][0-9]{0,19}|damaged)\\.)?[0-9a-f]{32}$',
        examples: ['0123456789abcdef0123456789abcdef'],
      }),
    source_namespace: z
      .string()
      .min(1, 'expected a namespace')
      .optional()
      .describe('Only snapshots of exactly this source_namespace'),
    parent_id: idQuery.optional().describe('Only snapshots with this parent'),
    since: nanoseconds.describe(
      'Only snapshots whose finished_at_ns is not before this time, in epoch nanoseconds',
    ),
    until: nanoseconds.describe(
      'Only snapshots whose finished_at_ns is not after this time, in epoch nanoseconds',
    ),
    order: z.enum(['id', 'newest'], { error: 'expected id or newest' }).optional().meta({
      description: 'By id, or the last finished first (finished_at_ns) and then by id',
      default: 'id',
    }),
    proof: z.enum(['all', 'frame'], { error: 'expected all or frame' }).optional().meta({
      description: 'What is proven of each: every byte, or marker, manifest, inventory and lengths only',
      default: 'all',
    }),
    damaged: z.enum(['fail', 'show'], { error: 'expected show or fail' }).optional().meta({
      description: 'Whether what cannot be proven fails the listing or is shown in it, with its problem',
      default: 'fail',
    }),
  })
  .check(checkCursor);

const schema = operation({
  operationId: 'listSnapshots',
  tags: ['snapshots'],
  summary: 'List what is published',
  description:
    'Every snapshot of the page is proven, byte for byte unless `proof=frame`; if one cannot be, the answer is 500 and names ' +
    'each that cannot, unless `damaged=show`. A page with `limit` is proven before its first byte and ends earlier, with ' +
    '`next`, after 4 MiB or some seconds of proving. Without `limit` it is everything, sent as it is proven: what cannot be ' +
    'proven within the first second or 256 KiB is 500, later it breaks the connection, never ends it cleanly. A few ' +
    'listings run at once; more wait two seconds and are then 503.',
  querystring,
  successes: [
    {
      status: 200,
      description: 'A page of snapshots',
      headers: ['Link'],
      content: {
        mediaType: 'application/json',
        schema: 'SnapshotListing',
        examples: { one: { value: LISTING } },
      },
    },
  ],
  refusals: ['storage_integrity', 'unsupported_package', 'unavailable'],
});

export function listingRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route<{ Querystring: z.output<typeof querystring> }>({
    method: ['GET', 'HEAD'],
    url: '/snapshots',
    schema,
    handler: async (request, reply) => {
      const parameters = request.query;
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
          failure: store.listingFailure,
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
