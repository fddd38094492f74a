/**
 * The one table of every way in which the contract, the store or the service can refuse: its HTTP status and title, when it
 * is met, what to do, and the members that a problem document (RFC 9457) of it has. Types, documents, pages, the OpenAPI
 * description and the statuses of the command are derived from it.
 */
import {
  anyString,
  listOf,
  meaning,
  objectOf,
  oneOf,
  sha256,
  text,
  wholeNumber,
  type Fields,
  type ObjectOf,
} from './checks.ts';

export const violation = objectOf(
  'One violation',
  {
    path: meaning(
      'Dotted: snapshot.coverage.status, arrays.ids.dtype, empty for the document itself; in a listing the id',
      anyString,
    ),
    message: text('What was expected and what was found'),
  },
  { open: true },
);

/** Which proof of a stored package failed (PW-07.03): the file or property that does not hold. */
const INTEGRITY_PROBLEMS = [
  'package',
  'marker',
  'manifest',
  'inventory',
  'intent',
  'length',
  'checksum',
  'unreadable',
  'foreign',
] as const;
export type IntegrityProblem = (typeof INTEGRITY_PROBLEMS)[number];

const LIMITS = [
  'metadata_bytes',
  'metadata_values',
  'arrays',
  'array_bytes',
  'snapshot_bytes',
  'part_header_bytes',
  'part_header_lines',
  'request_headers',
  'chunk_extensions',
] as const;

const meant = text('The snapshot that was meant');
const errors = meaning('Every violation at once', listOf(violation));
const expected = text('What would have been right; of a limit: at most this');
/** Also nothing, such as the marker of an empty file. */
const actual = meaning('What was found', anyString);
const attempt = text('Where the failed attempt stays, relative to the root; see GET /incomplete');
const phase = text('The step of the publication that failed');
const location = text(
  'Where to look: the path of the snapshot at this service, or the file whose proof failed',
);
const manifestSha256 = meaning('SHA-256 of the stored manifest, the one of its ETag', sha256);
const secondsOf = (description: string) => meaning(description, wholeNumber);
const retryAfter = secondsOf('Seconds to wait, also in Retry-After');

interface ProblemKind<F extends Fields, O extends keyof F> {
  readonly status: number;
  readonly title: string;
  readonly when: string;
  readonly remedy: string;
  /** Whether the sentence of a refusal only says what is wrong, and the remedy is put behind it. */
  readonly saysRemedy?: boolean;
  readonly details: F;
  /** Members that not every such refusal has. */
  readonly optional?: readonly O[];
  readonly example: {
    readonly detail: string;
    readonly details: ObjectOf<F, NoInfer<O>>;
    readonly attempt?: string;
  };
}

function problem<const F extends Fields, const O extends keyof F & string = never>(
  kind: ProblemKind<F, O>,
): ProblemKind<F, O> {
  return kind;
}

const ID = '0123456789abcdef0123456789abcdef';
const ATTEMPT = 'staging/7d9f2c4be6a84f0f9f0c2f4a1f6f3b5e';
const SHA256 = '485c8e0f62f8433582b3cc2ae4f3f0236bac23899353059f54edb56487d12c82';

/** By code; in the order of their statuses. */
export const PROBLEMS = {
  malformed_multipart: problem({
    status: 400,
    title: 'The multipart body is malformed',
    when: 'The body of a publication cannot be read as multipart/form-data in one way only, or is cut short.',
    remedy: 'Build the body with an ordinary multipart library and send it whole; nothing was published.',
    details: {},
    example: {
      detail:
        'The request body is cut short: the connection was lost after 4096 bytes; send the request again.',
      details: {},
      attempt: ATTEMPT,
    },
  }),
  malformed_json: problem({
    status: 400,
    title: 'The metadata is not strict JSON',
    when: 'The metadata is no strict JSON: duplicate names, invalid UTF-8, a byte order mark, NaN, or text behind its end.',
    remedy: 'Correct the document at the line and column named and publish again.',
    details: { line: wholeNumber, column: wholeNumber },
    optional: ['line', 'column'],
    example: {
      detail: 'Line 1, column 87: expected each name once in an object, found "scope" again.',
      details: { line: 1, column: 87 },
    },
  }),
  metadata_missing: problem({
    status: 400,
    title: 'The first part is not the metadata',
    when: 'The first part of the body is not named "metadata".',
    remedy: 'Send the metadata document first and the arrays after it.',
    details: {},
    example: {
      detail: 'The first part must be named "metadata" and hold the JSON document; found a part named "ids".',
      details: {},
    },
  }),
  invalid_request: problem({
    status: 400,
    title: 'The request is invalid',
    when: 'A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it.',
    remedy: 'Correct what is named in errors or in the detail and send the request again.',
    details: { errors, expected, actual },
    optional: ['errors', 'expected', 'actual'],
    example: {
      detail: 'The query is invalid. limit: expected a whole number from 1 to 10000',
      details: { errors: [{ path: 'limit', message: 'expected a whole number from 1 to 10000' }] },
    },
  }),
  invalid_snapshot_id: problem({
    status: 400,
    title: 'Not a snapshot id',
    when: 'The snapshot id in the path is none.',
    remedy: 'Use the 32 lowercase hex digits of the id; other spellings are never converted.',
    details: { expected },
    example: {
      detail: '"latest" is not a snapshot id: 32 lowercase hex digits are expected.',
      details: { expected: '[0-9a-f]{32}' },
    },
  }),
  unauthorized: problem({
    status: 401,
    title: 'A token is needed',
    when: 'The service was started with a token, and the request has none or another one.',
    remedy: 'Send "Authorization: Bearer <token>" with the token that the service was started with.',
    details: {},
    example: {
      detail: 'This service needs a token: send it as "Authorization: Bearer <token>".',
      details: {},
    },
  }),
  forbidden_host: problem({
    status: 403,
    title: 'The Host is not allowed',
    when: 'The Host header names none of the hosts that the service answers to, as with DNS rebinding.',
    remedy:
      'Call the service by one of its own names, or have its operator add the name to SNAPSHOTS_ALLOWED_HOSTS.',
    details: {},
    example: {
      detail:
        'The request does not name exactly one host that this service answers to; call it by one of its own names, or add the name to SNAPSHOTS_ALLOWED_HOSTS.',
      details: {},
    },
  }),
  forbidden_origin: problem({
    status: 403,
    title: 'Cross-site requests are not allowed',
    when: 'A browser says that the request comes from a page of another site.',
    remedy: 'Use a page of the service itself, or a program; pages of other sites are never answered.',
    details: {},
    example: {
      detail:
        'The request comes from a page of another site (Origin or Sec-Fetch-Site); this service answers its own pages and programs only. Open the page of the service itself, or use a program.',
      details: {},
    },
  }),
  snapshot_not_found: problem({
    status: 404,
    title: 'No such snapshot',
    when: 'No snapshot of this id is published; there is no latest version and no live source to fall back on.',
    remedy: 'GET /snapshots lists what is; GET /incomplete shows attempts that did not get there.',
    saysRemedy: true,
    details: { snapshot_id: meant },
    example: { detail: 'No snapshot ' + ID + ' is published in this store.', details: { snapshot_id: ID } },
  }),
  array_not_found: problem({
    status: 404,
    title: 'No such array',
    when: 'The snapshot is there and has no array of this key.',
    remedy: 'The manifest of the snapshot names the arrays that it has.',
    saysRemedy: true,
    details: { snapshot_id: meant, array: text('The key that was meant') },
    example: {
      detail: 'Snapshot ' + ID + ' has no array "ids".',
      details: { snapshot_id: ID, array: 'ids' },
    },
  }),
  not_found: problem({
    status: 404,
    title: 'No such resource',
    when: 'There is nothing at this path.',
    remedy: 'Compare the path with /openapi.json; paths are case-sensitive and end without a slash.',
    details: {},
    example: {
      detail:
        'There is nothing at this path; /docs shows what there is, and /openapi.json says it to programs.',
      details: {},
    },
  }),
  method_not_allowed: problem({
    status: 405,
    title: 'The method is not allowed here',
    when: 'The resource does not know the method, or the service is read-only and the request publishes.',
    remedy: 'Use a method of the Allow header; publish to the service that owns the store.',
    details: { allow: listOf(text('A method')) },
    example: {
      detail: 'PUT cannot be used here; use GET or HEAD or POST.',
      details: { allow: ['GET', 'HEAD', 'POST'] },
    },
  }),
  upload_stalled: problem({
    status: 408,
    title: 'The upload stalled',
    when: 'A client sent nothing for longer than the idle limit, though the service was ready to read.',
    remedy:
      'Send the whole request again; nothing was published, and what arrived stays visible in GET /incomplete.',
    details: { idle_seconds: secondsOf('The limit that was reached'), attempt },
    optional: ['attempt'],
    example: {
      detail: 'No bytes arrived for 60 seconds; nothing was published. Send the whole snapshot again.',
      details: { idle_seconds: 60 },
      attempt: ATTEMPT,
    },
  }),
  snapshot_exists: problem({
    status: 409,
    title: 'The snapshot exists',
    when: 'The id is taken: a snapshot, or anything else, already is where this one would go. Nothing is ever replaced.',
    remedy: 'Read it to have it proven; to publish other content, choose another id.',
    saysRemedy: true,
    details: { snapshot_id: meant, location, manifest_sha256: manifestSha256 },
    optional: ['manifest_sha256'],
    example: {
      detail:
        'snapshots/' +
        ID +
        ' exists already and is never overwritten. If its manifest_sha256 is that of your manifest, it is the same manifest.',
      details: { snapshot_id: ID, location: 'snapshots/' + ID, manifest_sha256: SHA256 },
    },
  }),
  publication_in_progress: problem({
    status: 409,
    title: 'The snapshot is being published',
    when: 'The same id is being published by another request at this moment.',
    remedy:
      'Wait as long as Retry-After says, then look whether the snapshot is there before publishing again.',
    details: { snapshot_id: meant, retry_after_seconds: retryAfter },
    example: {
      detail:
        'Another publication of ' +
        ID +
        ' is under way in this process; wait for its answer, then read the snapshot.',
      details: { snapshot_id: ID, retry_after_seconds: 5 },
    },
  }),
  precondition_failed: problem({
    status: 412,
    title: 'The precondition does not hold',
    when: 'If-Match names another state than the stored one, or comes with a publication.',
    remedy: 'Read the snapshot again without If-Match; published snapshots never change.',
    details: { expected, actual },
    example: {
      detail:
        'If-Match names another state than the stored one; published snapshots never change, so it was never this one. Ask without If-Match.',
      details: { expected: '"' + SHA256 + '"', actual: '"another"' },
    },
  }),
  limit_exceeded: problem({
    status: 413,
    title: 'A limit is exceeded',
    when: 'Something is larger than this service allows: the metadata, an array, a snapshot, the number of arrays, headers.',
    remedy: 'Send less, or have the operator raise the limit.',
    saysRemedy: true,
    details: { limit: meaning('Which limit', oneOf(LIMITS)), expected, actual },
    optional: ['actual'],
    example: {
      detail: 'The metadata is longer than 4194304 bytes, the limit metadata_bytes of this service.',
      details: { limit: 'metadata_bytes', expected: '4194304' },
    },
  }),
  unsupported_media_type: problem({
    status: 415,
    title: 'The media type is not supported',
    when: 'A publication is not multipart/form-data, or comes with a Content-Encoding or a coded part.',
    remedy: 'Send multipart/form-data with a boundary, and the bytes as they are.',
    details: { expected },
    optional: ['expected'],
    example: {
      detail:
        'The Content-Type of the request is none; send a multipart/form-data body with a boundary parameter.',
      details: { expected: 'multipart/form-data; boundary=...' },
    },
  }),
  range_not_satisfiable: problem({
    status: 416,
    title: 'The range cannot be satisfied',
    when: 'The range begins behind the end of the array.',
    remedy:
      'Ask for a range within the length that Content-Range names; a download that has every byte is complete.',
    details: { byte_length: text('Bytes there are, decimal') },
    example: {
      detail:
        'The range lies outside the 24 bytes there are; ask for one within them, or for everything without Range.',
      details: { byte_length: '24' },
    },
  }),
  expectation_failed: problem({
    status: 417,
    title: 'The expectation cannot be met',
    when: 'The Expect header asks for something else than 100-continue.',
    remedy: 'Leave the Expect header out, or expect 100-continue.',
    details: { expected },
    example: {
      detail: 'Nothing but 100-continue can be expected; leave the Expect header out.',
      details: { expected: '100-continue' },
    },
  }),
  contract_violation: problem({
    status: 422,
    title: 'The document breaks the contract',
    when: 'The metadata document breaks rules of the contract; errors lists every violation at once.',
    remedy: 'Correct each path in errors and publish again.',
    details: { errors },
    example: {
      detail:
        'snapshot.coverage.returned_records: must equal expected_records 3 when status is COMPLETE; found 2',
      details: {
        errors: [
          {
            path: 'snapshot.coverage.returned_records',
            message: 'must equal expected_records 3 when status is COMPLETE; found 2',
          },
        ],
      },
    },
  }),
  fingerprint_context_mismatch: problem({
    status: 422,
    title: 'The fingerprint context does not match its declaration',
    when: 'The fingerprint is not the declared context in every field.',
    remedy: 'Take the fields from GET /contexts, or have the operator declare the context.',
    details: { errors },
    example: {
      detail: 'snapshot.fingerprint.mode: must be "ordered", as declared; found "unordered"',
      details: {
        errors: [
          { path: 'snapshot.fingerprint.mode', message: 'must be "ordered", as declared; found "unordered"' },
        ],
      },
    },
  }),
  parent_not_complete: problem({
    status: 422,
    title: 'The parent is not a published, valid snapshot',
    when: 'The parent is not published, or cannot be proven.',
    remedy: 'Publish the parent first, or leave parent_id null.',
    saysRemedy: true,
    details: { parent_id: text('The parent that was meant'), errors },
    example: {
      detail: 'snapshot.parent_id: must be a published snapshot',
      details: {
        parent_id: ID,
        errors: [{ path: 'snapshot.parent_id', message: 'must be a published snapshot' }],
      },
    },
  }),
  array_mismatch: problem({
    status: 422,
    title: 'The arrays are not those declared',
    when: 'A part is missing, undeclared or there twice, or unlike its declared dtype, count, byte_length or sha256.',
    remedy:
      'Nothing was published; correct the arrays or what the metadata declares of them, and publish again.',
    saysRemedy: true,
    details: { errors, expected, actual },
    optional: ['expected', 'actual'],
    example: {
      detail: 'arrays.ids.count: is declared 4, but 3 arrived',
      details: {
        errors: [{ path: 'arrays.ids.count', message: 'is declared 4, but 3 arrived' }],
        expected: '4',
        actual: '3',
      },
      attempt: ATTEMPT,
    },
  }),
  storage_integrity: problem({
    status: 500,
    title: 'Stored bytes cannot be proven',
    when: 'Stored bytes do not prove what the manifest says of them. They are never handed out, in part or as a whole.',
    remedy:
      'Nothing of it is given out: restore the package from a copy, or move away what does not belong there.',
    saysRemedy: true,
    details: {
      snapshot_id: meant,
      problem: meaning('Which proof failed (PW-07.03)', oneOf(INTEGRITY_PROBLEMS)),
      location: text('The file or entry whose proof failed'),
      errors,
      expected,
      actual,
    },
    optional: ['snapshot_id', 'location', 'errors', 'expected', 'actual'],
    example: {
      detail: 'array-ids.bin must be 24 bytes long, found 23.',
      details: {
        snapshot_id: ID,
        problem: 'length',
        location: 'array-ids.bin',
        expected: '24',
        actual: '23',
      },
    },
  }),
  unsupported_package: problem({
    status: 500,
    title: 'The stored package is of an unsupported kind',
    when: 'A stored package is sound, but of a format, version, dtype or algorithm that this service does not support.',
    remedy: 'Read it with software that supports it, or declare its algorithm and context.',
    saysRemedy: true,
    details: { snapshot_id: meant, errors, expected, actual },
    optional: ['snapshot_id', 'expected', 'actual'],
    example: {
      detail: 'version: must be 1, found 2',
      details: {
        snapshot_id: ID,
        errors: [{ path: 'version', message: 'must be 1, found 2' }],
        expected: '1',
        actual: '2',
      },
    },
  }),
  publication_failed: problem({
    status: 500,
    title: 'The publication failed',
    when: 'The disk failed while the snapshot was being published. It is not published, and nothing is retried.',
    remedy: 'See the log for the cause, then publish it again.',
    saysRemedy: true,
    details: { snapshot_id: meant, attempt, phase },
    optional: ['attempt'],
    example: {
      detail: 'The disk failed at the step "payloads"; snapshot ' + ID + ' was not published.',
      details: { snapshot_id: ID, phase: 'payloads' },
      attempt: ATTEMPT,
    },
  }),
  publication_uncertain: problem({
    status: 500,
    title: 'The publication may have succeeded',
    when: 'The snapshot was put in place, but it could not be made sure that it outlasts a power cut.',
    remedy:
      'GET the location: if it answers with manifest_sha256 as its ETag, the snapshot is there and proven.',
    details: { snapshot_id: meant, location, manifest_sha256: manifestSha256, phase },
    example: {
      detail:
        'snapshots/' +
        ID +
        ' was renamed into place, but making that durable failed. The snapshot may be published: read it before anything else is tried; it is never overwritten.',
      details: {
        snapshot_id: ID,
        location: 'snapshots/' + ID,
        manifest_sha256: SHA256,
        phase: 'parent sync',
      },
    },
  }),
  internal_error: problem({
    status: 500,
    title: 'Unexpected error',
    when: 'The service failed in a way that it does not know.',
    remedy: 'Find the request in the log by the id in "instance" and report it.',
    details: {},
    example: {
      detail: 'The service failed unexpectedly; the log has the details under the id of this request.',
      details: {},
    },
  }),
  unavailable: problem({
    status: 503,
    title: 'Not available for the moment',
    when: 'The service is stopping, as many uploads run as may, or the store cannot be used for the moment.',
    remedy: 'Try again after as many seconds as Retry-After says.',
    details: { retry_after_seconds: retryAfter },
    example: {
      detail: 'The service is stopping; try again once it has been started anew.',
      details: { retry_after_seconds: 5 },
    },
  }),
  insufficient_storage: problem({
    status: 507,
    title: 'Not enough storage',
    when: 'The disk is full, or the snapshot would take what is kept free.',
    remedy: 'Free space, then publish again; the attempt stays visible in GET /incomplete.',
    details: { snapshot_id: meant, attempt, phase },
    optional: ['snapshot_id', 'attempt', 'phase'],
    example: {
      detail:
        'The disk is full (ENOSPC) at the step "payloads"; snapshot ' +
        ID +
        ' was not published. Free space, then publish again.',
      details: { snapshot_id: ID, phase: 'payloads' },
      attempt: ATTEMPT,
    },
  }),
};

export type ErrorCode = keyof typeof PROBLEMS;
/** The members beside those of every problem document. */
export type ErrorDetails<C extends ErrorCode> = (typeof PROBLEMS)[C]['example']['details'];

export const ERROR_CODES = Object.keys(PROBLEMS) as readonly ErrorCode[];

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(PROBLEMS, code);
}
