/** Path and query parameters, checked; a path is refused, never cleaned. */
import { z } from 'zod';
import { SnapshotError, type Violation } from '../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import { isUint64 } from '../contract/uint64.ts';
import { isCursor } from '../store/listing.ts';
import { nameOfCursor } from '../store/sorted-names.ts';

export const MAX_PAGE = 10_000;

export function snapshotIdOf(text: string): SnapshotId {
  const shown = JSON.stringify(text.slice(0, 80));
  if (isSnapshotId(text)) return text;
  throw new SnapshotError(
    'invalid_snapshot_id',
    `${shown} is not a snapshot id: 32 lowercase hex digits are expected.`,
    { expected: '[0-9a-f]{32}' },
  );
}

const id = z.string().refine(isSnapshotId, 'expected a snapshot id: 32 lowercase hex digits');
const LIMIT = `expected a whole number from 1 to ${MAX_PAGE}`;
const limit = z
  .string(LIMIT)
  .regex(/^[1-9]\d{0,4}$/u, LIMIT)
  .transform(Number)
  .pipe(z.number().max(MAX_PAGE, LIMIT));

const NANOSECONDS = 'expected epoch nanoseconds: a decimal number without sign or leading zeros';
const nanoseconds = z.string(NANOSECONDS).refine(isUint64, NANOSECONDS);

export const listingQuery = z
  .strictObject({
    limit: limit.optional(),
    after: z.string().optional(),
    source_namespace: z.string().min(1, 'expected a namespace').optional(),
    parent_id: id.optional(),
    since: nanoseconds.optional(),
    until: nanoseconds.optional(),
    order: z.enum(['id', 'newest'], { error: 'expected id or newest' }).optional(),
    proof: z.enum(['all', 'frame'], { error: 'expected all or frame' }).optional(),
    damaged: z.enum(['show', 'fail'], { error: 'expected show or fail' }).optional(),
  })
  .check(({ value, issues }) => {
    const { after, order = 'id' } = value;
    if (after === undefined || isCursor(after, order)) return;
    const message =
      order === 'id'
        ? 'expected a snapshot id: 32 lowercase hex digits'
        : 'expected the next of a page in the order newest';
    issues.push({ code: 'custom', path: ['after'], message, input: after });
  });

/** A name has at most 255 bytes, each shown in at most four characters. */
const NAME = 'expected the next of a page before';
export const incompleteQuery = z.strictObject({
  limit: limit.optional(),
  after: z
    .string()
    .min(1, NAME)
    .max(4 * 255, NAME)
    .refine((cursor) => nameOfCursor(cursor).length <= 255, NAME)
    .optional(),
});

/** Throws `invalid_request` with every violation at once; a repeated or unknown parameter is one. */
export function checkedQuery<T extends z.ZodType>(schema: T, query: unknown): z.output<T> {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const errors: Violation[] = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: key, message: 'is no parameter of this resource' }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
  const first = errors[0];
  throw new SnapshotError(
    'invalid_request',
    `The query is invalid. ${first === undefined ? '' : `${first.path}: ${first.message}`}`,
    { errors },
  );
}
