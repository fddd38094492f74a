/** GET and HEAD of how two snapshots differ, after every byte of both was proven (CONTRACT, section 5). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ARRAY_KEY_PATTERN, isArrayKey } from '../src/contract/ids.ts';
import { COMPARISON } from '../src/http/openapi/examples.ts';
import { operation, READ_REFUSALS } from '../src/http/openapi/operation.ts';
import { snapshotIdOf, snapshotIdParam } from '../src/http/parameters.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const params = z.object({ snapshot_id: snapshotIdParam, other: snapshotIdParam });

const KEY = `expected the key of an array: ${ARRAY_KEY_PATTERN.source}`;
const querystring = z.strictObject({
  key: z
    .string(KEY)
    .refine(isArrayKey, KEY)
    .optional()
    .meta({
      description:
        'Aligns rows by the values of this array, which must be unique on each side; by position without',
      pattern: ARRAY_KEY_PATTERN.source,
      examples: ['ids'],
    }),
});

const schema = operation({
  operationId: 'compareSnapshots',
  tags: ['snapshots'],
  summary: 'Compare two snapshots',
  description:
    'Every byte of both is proven first; a side that cannot be is refused by its id. Arrays of equal SHA-256 are equal; of ' +
    'those that are not, every element is compared, exactly. With a `key`, rows are aligned by the values of that array; arrays ' +
    'of another length than it are still compared by position. Where its values ascend on both sides, arrays of any length ' +
    'are merged; otherwise some two million rows of a side are put in order, and more are refused, as are values that ' +
    'repeat. Few comparisons run at once; more wait for a minute and are then 503.',
  params,
  querystring,
  successes: [
    {
      status: 200,
      description: 'How they differ',
      content: {
        mediaType: 'application/json',
        schema: 'Comparison',
        examples: { changed: { value: COMPARISON } },
      },
    },
  ],
  refusals: [...READ_REFUSALS.filter((code) => code !== 'precondition_failed'), 'array_not_found'],
});

interface Asked {
  Params: z.output<typeof params>;
  Querystring: z.output<typeof querystring>;
}

export function comparisonRoute(app: FastifyInstance, { store, transfers }: ServiceContext): void {
  app.route<Asked>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/compare/:other',
    schema,
    handler: async (request, reply) => {
      const from = snapshotIdOf(request.params.snapshot_id);
      const to = snapshotIdOf(request.params.other);
      const { exchange, query } = request;
      exchange.outcome.snapshotId = from;
      const comparison = await transfers.reading(exchange, 'comparison', (signal) =>
        store.compareSnapshots(from, to, { ...query, signal }),
      );
      return sendJson(reply.header('cache-control', 'private, no-cache'), comparison);
    },
  });
}
