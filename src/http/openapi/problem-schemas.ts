/** The problem document of every code (RFC 9457), as zod schemas that the compiler holds to the typed details. */
import { z } from 'zod';
import type { ErrorCode, ErrorDetails, IntegrityProblem, LimitName } from '../../contract/errors.ts';
import { SHA256_HEX_PATTERN } from '../../contract/digest.ts';
import { SNAPSHOT_ID_PATTERN } from '../../contract/ids.ts';
import { PROBLEM_GUIDE } from '../problem-guide.ts';
import { PROBLEMS } from '../problems.ts';

type ShapeOf<D> = { readonly [K in keyof D]-?: z.ZodType<D[K] | undefined> };
/** `allow` is in the header of that name and nowhere else. */
type Shown<C extends ErrorCode> = Omit<ErrorDetails<C>, 'allow'>;

const id = z.string().regex(SNAPSHOT_ID_PATTERN).describe('The snapshot that was meant');
const anyId = z.string().describe('The snapshot that was meant');
const sha256 = z
  .string()
  .regex(SHA256_HEX_PATTERN)
  .describe('SHA-256 of the stored manifest, the one of its ETag');
const expected = z.string().describe('What would have been right');
const actual = z.string().describe('What was found');
const attempt = z
  .string()
  .describe('Where the failed attempt stays, relative to the root; see GET /incomplete');
const phase = z.string().describe('The step of the publication that failed');
const snapshotPath = z.string().describe('Where to look: the path of the snapshot at this service');
const retryAfter = z.int().min(1).describe('Seconds to wait, also in Retry-After');

export const violationSchema = z
  .object({
    path: z.string().describe('Dotted: snapshot.coverage.status, arrays.ids.dtype; in a listing the id'),
    message: z.string().min(1).describe('What was expected and what was found'),
  })
  .describe('One violation');

const errors = z.array(violationSchema).describe('Every violation at once');

const INTEGRITY_PROBLEMS = {
  package: true,
  marker: true,
  manifest: true,
  inventory: true,
  intent: true,
  length: true,
  checksum: true,
  unreadable: true,
  foreign: true,
} as const satisfies Record<IntegrityProblem, true>;

const LIMITS = {
  metadata_bytes: true,
  metadata_values: true,
  arrays: true,
  array_bytes: true,
  snapshot_bytes: true,
  part_header_bytes: true,
  part_header_lines: true,
  request_headers: true,
  chunk_extensions: true,
} as const satisfies Record<LimitName, true>;

function namesOf<K extends string>(table: Readonly<Record<K, true>>): K[] {
  return Object.keys(table) as K[];
}

const DETAILS = {
  malformed_multipart: {},
  malformed_json: {
    line: z.int().min(1).optional(),
    column: z.int().min(1).describe('In UTF-16 units').optional(),
  },
  metadata_missing: {},
  invalid_request: { errors: errors.optional(), expected: expected.optional(), actual: actual.optional() },
  invalid_snapshot_id: { expected },
  unauthorized: {},
  forbidden_host: {},
  forbidden_origin: {},
  snapshot_not_found: { snapshot_id: id },
  array_not_found: { snapshot_id: id, array: z.string().describe('The key that was meant') },
  not_found: {},
  method_not_allowed: {},
  precondition_failed: { expected, actual },
  upload_stalled: {
    idle_seconds: z.number().describe('The limit that was reached'),
    attempt: attempt.optional(),
  },
  snapshot_exists: { snapshot_id: id, location: snapshotPath, manifest_sha256: sha256.optional() },
  publication_in_progress: { snapshot_id: id, retry_after_seconds: retryAfter },
  limit_exceeded: {
    limit: z.enum(namesOf(LIMITS)).describe('Which limit'),
    expected: expected.describe('At most this'),
    actual: actual.optional(),
  },
  unsupported_media_type: { expected: expected.optional() },
  range_not_satisfiable: { byte_length: z.string().describe('Bytes there are, decimal') },
  expectation_failed: { expected },
  contract_violation: { errors },
  fingerprint_context_mismatch: { errors },
  parent_not_complete: { parent_id: z.string().describe('The parent that was meant'), errors },
  array_mismatch: { errors, expected: expected.optional(), actual: actual.optional() },
  storage_integrity: {
    snapshot_id: anyId.optional(),
    problem: z.enum(namesOf(INTEGRITY_PROBLEMS)).describe('Which proof failed'),
    location: z.string().describe('The file or entry whose proof failed').optional(),
    errors: errors.optional(),
    expected: expected.optional(),
    actual: actual.optional(),
  },
  unsupported_package: {
    snapshot_id: anyId.optional(),
    errors,
    expected: expected.optional(),
    actual: actual.optional(),
  },
  publication_failed: { snapshot_id: id, attempt: attempt.optional(), phase },
  publication_uncertain: { snapshot_id: id, location: snapshotPath, manifest_sha256: sha256, phase },
  internal_error: {},
  unavailable: { retry_after_seconds: retryAfter },
  insufficient_storage: {
    snapshot_id: id.optional(),
    attempt: attempt.optional(),
    phase: phase.optional(),
  },
} satisfies { readonly [C in ErrorCode]: ShapeOf<Shown<C>> };

/** Statuses beside the one of the table: headers that are too long have one of their own (RFC 6585, 5). */
const MORE_STATUSES: Partial<Record<ErrorCode, readonly number[]>> = { limit_exceeded: [431] };

export function statusesOf(code: ErrorCode): readonly number[] {
  return [PROBLEMS[code].status, ...(MORE_STATUSES[code] ?? [])];
}

/** The document of one code: the five members of RFC 9457, `code`, and the details of that code. */
export function problemSchema(code: ErrorCode): z.ZodType {
  return z
    .object({
      type: z
        .string()
        .regex(new RegExp(`/problems/${code}$`, 'u'))
        .describe('A page about this code, relative'),
      title: z.literal(PROBLEMS[code].title),
      status: z.literal([...statusesOf(code)]),
      detail: z.string().min(1).describe('What was wrong, where, what was expected, what to do'),
      instance: z
        .string()
        .regex(/^urn:request:[0-9a-f-]{36}$/u)
        .describe('Names the request in the log'),
      code: z.literal(code),
      attempt: attempt.optional(),
      ...DETAILS[code],
    })
    .describe(PROBLEM_GUIDE[code].when);
}

export const ERROR_CODES = Object.keys(PROBLEMS) as ErrorCode[];

/** `ProblemSnapshotExists` for `snapshot_exists`. */
export function problemName(code: ErrorCode): string {
  return `Problem${code.replace(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())}`;
}
