/** Refusals as HTTP: every one as a problem document (RFC 9457), rendered in one place. */
import type { FastifySchemaValidationError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isAnySnapshotError, SnapshotError, type ErrorCode, type Violation } from '../contract/errors.ts';
import { PROBLEMS } from '../contract/problems.ts';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly [member: string]: unknown;
}

/** Their `location` is a snapshot's: relative to the root in the store, a path of this service in an answer. */
const LOCATED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['snapshot_exists', 'publication_uncertain']);

/** The document for a refusal; `instance` names the request, so that it can be found in the log. */
export function problemOf(error: SnapshotError, instance: string, basePath: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  const { allow: _allow, ...details } = error.details as Record<string, unknown>;
  if (LOCATED.has(error.code)) details['location'] = `${basePath}/${String(details['location'])}`;
  return {
    type: `${basePath}/problems/${error.code}`,
    title,
    status,
    detail: detailOf(error),
    instance,
    code: error.code,
    ...details,
    ...(error.attempt === undefined ? {} : { attempt: error.attempt }),
  };
}

const RAISABLE: readonly string[] = ['metadata_bytes', 'arrays', 'array_bytes', 'snapshot_bytes'];

/** The message of a refusal, and what to do where it does not say that itself: the store does not know who asked, or how. */
function detailOf({ code, message, details }: SnapshotError): string {
  const { saysRemedy = false, remedy } = PROBLEMS[code] as { saysRemedy?: boolean; remedy: string };
  const isFixed = 'limit' in details && !RAISABLE.includes(details.limit);
  if (!saysRemedy || isFixed) return message;
  return `${message}${/[.!?]$/u.test(message) ? '' : '.'} ${remedy}`;
}

/** Headers that belong to a refusal. */
export function problemHeaders(error: SnapshotError): Readonly<Record<string, string>> {
  const details = error.details as Record<string, unknown>;
  const headers: Record<string, string> = {};
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer realm="pipewhy-snapshots"';
  if (Array.isArray(details['allow'])) headers['allow'] = details['allow'].join(', ');
  if (typeof details['retry_after_seconds'] === 'number') {
    headers['retry-after'] = String(details['retry_after_seconds']);
  }
  if (error.code === 'range_not_satisfiable')
    headers['content-range'] = `bytes */${String(details['byte_length'])}`;
  return headers;
}

/** Errors of the framework, by its own codes, in our words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, (message: string) => SnapshotError>> = {
  FST_ERR_BAD_URL: () =>
    new SnapshotError(
      'invalid_request',
      'The path of the URL cannot be decoded; check its percent-encoding.',
      {},
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new SnapshotError(
      'unsupported_media_type',
      'The Content-Type cannot be read; send multipart/form-data with a boundary.',
      {
        expected: 'multipart/form-data; boundary=...',
      },
    ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new SnapshotError(
      'malformed_multipart',
      'The body is not as long as its Content-Length says; let the HTTP client count it, and send the request again.',
      {},
    ),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new SnapshotError(
      'not_found',
      'A part of the path is longer than any name here; compare it with /openapi.json.',
      {},
    ),
};

/** Any error as a refusal that may be shown; what is unexpected says nothing of its inside. */
export function asSnapshotError(error: unknown): SnapshotError {
  if (isAnySnapshotError(error)) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return invalidQuery(error.validation);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return known(code);
  return new SnapshotError(
    'internal_error',
    'The service failed unexpectedly; the log has the details under the id of this request.',
    {},
    { cause: error },
  );
}

/** Every violation at once; a repeated or unknown parameter is one. */
function invalidQuery(found: readonly FastifySchemaValidationError[]): SnapshotError<'invalid_request'> {
  const errors: Violation[] = found.flatMap(({ keyword, instancePath, message = '', params }) =>
    keyword === 'unrecognized_keys'
      ? (params['keys'] as string[]).map((path) => ({ path, message: 'is no parameter of this resource' }))
      : [{ path: instancePath.slice(1).replaceAll('/', '.'), message }],
  );
  const first = errors[0];
  return new SnapshotError(
    'invalid_request',
    `The query is invalid. ${first === undefined ? '' : `${first.path}: ${first.message}`}`,
    { errors },
  );
}
