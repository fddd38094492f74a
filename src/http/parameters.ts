/** Parameters that several routes take, as fields of their schemas; what is wrong is refused, never cleaned. */
import type { FastifySchemaCompiler } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SnapshotError } from '../contract/errors.ts';
import { isSnapshotId, SNAPSHOT_ID_PATTERN, type SnapshotId } from '../contract/ids.ts';
import { isCursor } from '../store/listing.ts';
import { nameOfCursor } from '../store/sorted-names.ts';

/**
 * Judges queries before their route; what comes out of the check is the route's `request.query`. Path parameters have refusals
 * of their own, and headers are described only: what a client sends beside them is its own affair.
 */
export const queryValidator: FastifySchemaCompiler<z.ZodType> = (route) =>
  route.httpPart === 'querystring' ? validatorCompiler(route) : () => true;

const MAX_PAGE = 10_000;
const EXAMPLE_ID = '0123456789abcdef0123456789abcdef';
const ID = { pattern: SNAPSHOT_ID_PATTERN.source, examples: [EXAMPLE_ID] };

/** Described here; `snapshotIdOf` judges it. */
export const snapshotIdParam = z.string().meta({ ...ID, description: '32 lowercase hex digits' });

export function snapshotIdOf(text: string): SnapshotId {
  const shown = JSON.stringify(text.slice(0, 80));
  if (isSnapshotId(text)) return text;
  throw new SnapshotError(
    'invalid_snapshot_id',
    `${shown} is not a snapshot id: 32 lowercase hex digits are expected.`,
    { expected: '[0-9a-f]{32}' },
  );
}

export const idQuery = z
  .string()
  .refine(isSnapshotId, 'expected a snapshot id: 32 lowercase hex digits')
  .meta(ID);

const LIMIT = `expected a whole number from 1 to ${MAX_PAGE}`;
export const limitQuery = z
  .string(LIMIT)
  .regex(/^[1-9]\d{0,4}$/u, LIMIT)
  .transform(Number)
  .pipe(z.int().min(1).max(MAX_PAGE, LIMIT))
  .describe('At most this many; everything where it is left out');

/** Names are listed from one on; a name has at most 255 bytes, each shown in at most four characters. */
const NAME = 'expected the next of a page before';
export const nameCursorQuery = z
  .string()
  .min(1, NAME)
  .max(4 * 255, NAME)
  .refine((cursor) => nameOfCursor(cursor).length <= 255, NAME);

/** For a query with `after` and `order`: a cursor leads on in the order that it was given in. */
export function checkCursor({ value, issues }: z.core.ParsePayload<Cursor>): void {
  const { after, order = 'id' } = value;
  if (after === undefined || isCursor(after, order)) return;
  const message =
    order === 'id'
      ? 'expected a snapshot id: 32 lowercase hex digits'
      : 'expected the next of a page in the order newest';
  issues.push({ code: 'custom', path: ['after'], message, input: after });
}

interface Cursor {
  after?: string | undefined;
  order?: 'id' | 'newest' | undefined;
}

/** What a read may be made to depend on (RFC 9110, 13). */
export const CONDITIONS = {
  'If-Match': z.string().optional().describe('Entity tags, or `*`; 412 unless the stored one is among them'),
  'If-None-Match': z
    .string()
    .optional()
    .describe('Entity tags that the client has; 304, after the same proof, if the stored one is among them'),
};

export const WANT_REPR_DIGEST = {
  'Want-Repr-Digest': z
    .string()
    .optional()
    .meta({
      description:
        'SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for ' +
        'sha-256 with 1 to 10, as the file is then hashed beside the array.',
      examples: ['sha-256=10'],
    }),
};
