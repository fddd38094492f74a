/** Reads answers: documents in full and within bounds, digests, and problems as errors. */
import { parseDictionary } from 'structured-headers';
import { isObject } from '../contract/checks.ts';
import { SHA256_HEX_PATTERN } from '../contract/ids.ts';
import type { Violation } from '../contract/errors.ts';
import { ConnectionError, ProblemError, ProtocolError, type Problem } from './errors.ts';
import type { Answer } from './transport.ts';

const MIB = 1024 * 1024;

/** The longest documents that are read into memory, in bytes; whatever goes on after that is left. */
export const MAX_BYTES = {
  manifest: 64 * MIB,
  /** The service ends a page after some MiB; one that does not may still hold 100,000 snapshots. */
  listing: 64 * MIB,
  /** Of the metadata of two manifests, and of an entry for each array. */
  comparison: 128 * MIB,
  declarations: 16 * MIB,
  /** A listing's refusal names every corrupt id. */
  problem: 16 * MIB,
  probe: 64 * 1024,
} as const;

const PROBLEM_TYPE = 'application/problem+json';

/** Passes an answer with one of these statuses; throws the problem it carries instead. */
export async function expectStatus(answer: Answer, ...statuses: readonly number[]): Promise<Answer> {
  if (statuses.includes(answer.status)) return answer;
  throw await problemOf(answer);
}

/**
 * The whole body. Throws `ProtocolError` as soon as it is longer than `max` or than its Content-Length says, and
 * `ConnectionError` where it ends before.
 */
export async function readBody(answer: Answer, max: number): Promise<Buffer> {
  const declared = contentLength(answer);
  const chunks: Buffer[] = [];
  let length = declared ?? 0;
  if (length > max) throw tooLong(answer, max);
  length = 0;
  for await (const chunk of answer.chunks()) {
    length += chunk.length;
    if (length > max) throw tooLong(answer, max);
    chunks.push(chunk);
  }
  if (declared !== null && declared !== length) {
    throw new ConnectionError(`The answer was cut short: expected ${declared} bytes, received ${length}.`);
  }
  return Buffer.concat(chunks, length);
}

function tooLong(answer: Answer, max: number): ProtocolError {
  answer.discard();
  return new ProtocolError(`The answer is longer than the ${max} bytes that such a document may have.`, {
    status: answer.status,
  });
}

/** An object in JSON; every document of the service but a manifest is read with this. */
export async function readJson(answer: Answer, max: number): Promise<Readonly<Record<string, unknown>>> {
  expectType(answer, 'application/json');
  const document = parseJson(await readBody(answer, max));
  if (isObject(document)) return document;
  throw new ProtocolError('The answer says it is JSON and holds no JSON object.', { status: answer.status });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined for what is no JSON in UTF-8. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** Throws `ProtocolError` for another media type, or an encoded body; parameters such as a charset do not matter. */
export function expectType(answer: Answer, expected: string): void {
  const { status } = answer;
  const found = mediaType(answer);
  const encoding = answer.list('content-encoding');
  if (found === expected && encoding === null) return;
  answer.discard();
  if (found === expected) {
    throw new ProtocolError(
      `The answer is encoded with ${encoding}, which was not asked for. A proxy on the way must pass bodies as they are.`,
      { status },
    );
  }
  throw new ProtocolError(
    `Expected ${expected} with status ${status}, found ${found ?? 'no Content-Type'}. Check that the URL is that ` +
      'of a snapshot service.',
    { status },
  );
}

/** The SHA-256 of the whole representation, in hex, from Repr-Digest (RFC 9530). Throws `ProtocolError` without one. */
export function representationDigest(answer: Answer): string {
  const hex = sha256Of(answer.list('repr-digest') ?? '');
  if (hex !== null) return hex;
  answer.discard();
  throw new ProtocolError('The answer carries no SHA-256 in Repr-Digest, so its bytes cannot be proven.', {
    status: answer.status,
  });
}

function sha256Of(field: string): string | null {
  // A dictionary keeps the last of two members of one name; two digests of one thing are none.
  if (field.split('sha-256=').length > 2) return null;
  try {
    const [value] = parseDictionary(field).get('sha-256') ?? [];
    const hex = value instanceof ArrayBuffer ? Buffer.from(value).toString('hex') : '';
    return SHA256_HEX_PATTERN.test(hex) ? hex : null;
  } catch {
    return null;
  }
}

export function contentLength(answer: Answer): number | null {
  const header = answer.header('content-length');
  return header !== null && /^\d+$/u.test(header) ? Number(header) : null;
}

/** The error for an answer that is no success. */
async function problemOf(answer: Answer): Promise<Error> {
  const { status } = answer;
  const retryAfterSeconds = retryAfter(answer);
  if (mediaType(answer) === PROBLEM_TYPE) {
    const document = parseJson(await readBody(answer, MAX_BYTES.problem));
    if (isProblem(document, status)) return new ProblemError(document, { retryAfterSeconds });
  }
  answer.discard();
  const advice =
    status >= 300 && status < 400
      ? ` It leads to ${JSON.stringify(answer.list('location')?.slice(0, 200) ?? 'nowhere')}: give the URL of the service itself.`
      : '';
  return new ProtocolError(
    `The answer has status ${status} and is no problem document, so it is not from a snapshot service itself.${advice}`,
    { status, retryAfterSeconds },
  );
}

/** Members that callers may rely on, whatever the code; others are passed on as they came. */
const PROBLEM_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  errors: (value) => Array.isArray(value) && value.every(isViolation),
  allow: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  manifest_sha256: (value) => typeof value === 'string' && SHA256_HEX_PATTERN.test(value),
  ...Object.fromEntries(
    ['type', 'title', 'instance', 'snapshot_id', 'parent_id', 'array', 'location', 'attempt', 'phase'].map(
      (name) => [name, (value: unknown) => typeof value === 'string'],
    ),
  ),
};

function isProblem(value: unknown, status: number): value is Problem {
  if (!isObject(value)) return false;
  return (
    typeof value['code'] === 'string' &&
    typeof value['detail'] === 'string' &&
    value['status'] === status &&
    Object.entries(PROBLEM_MEMBERS).every(([name, holds]) => value[name] === undefined || holds(value[name]))
  );
}

function isViolation(value: unknown): value is Violation {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';
}

function mediaType(answer: Answer): string | null {
  return answer.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? null;
}

/** Seconds, or null; an HTTP date is turned into the seconds from now. */
function retryAfter(answer: Answer): number | null {
  const header = answer.list('retry-after');
  if (header === null) return null;
  if (/^\d+$/u.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}
