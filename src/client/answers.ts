/** Reads answers: documents in full, digests, and problems as errors. */
import { SHA256_HEX_PATTERN } from '../contract/digest.ts';
import { isObject } from '../contract/checks.ts';
import { ConnectionError, ProtocolError } from './errors.ts';
import { problemError, type Problem } from './problem-errors.ts';
import type { Answer } from './transport.ts';

/** No document of the contract comes near this; a stream without end must not fill the memory. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;
const PROBLEM_TYPE = 'application/problem+json';

/** Passes an answer with one of these statuses; throws the problem it carries instead. */
export async function expectStatus(answer: Answer, ...statuses: readonly number[]): Promise<Answer> {
  if (statuses.includes(answer.status)) return answer;
  throw await problemOf(answer);
}

/** The whole body. Throws `ConnectionError` where it ends before its Content-Length. */
export async function readBody(answer: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.chunks()) {
    length += chunk.length;
    if (length > MAX_DOCUMENT_BYTES) {
      throw new ProtocolError(
        `The answer is longer than the ${MAX_DOCUMENT_BYTES} bytes a document may have.`,
        {
          status: answer.status,
        },
      );
    }
    chunks.push(chunk);
  }
  const declared = contentLength(answer);
  if (declared !== null && declared !== length) {
    throw new ConnectionError(`The answer was cut short: expected ${declared} bytes, received ${length}.`);
  }
  return Buffer.concat(chunks, length);
}

export async function readJson(answer: Answer): Promise<unknown> {
  expectType(answer, 'application/json');
  const body = await readBody(answer);
  return parseJson(body, answer);
}

function parseJson(body: Buffer, answer: Answer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new ProtocolError('The answer says it is JSON and is not.', { status: answer.status, cause });
  }
}

/** Throws `ProtocolError` for another media type; parameters such as a charset do not matter. */
export function expectType(answer: Answer, expected: string): void {
  const found = mediaType(answer);
  if (found === expected) return;
  answer.discard();
  throw new ProtocolError(
    `Expected ${expected} with status ${answer.status}, found ${found ?? 'no Content-Type'}. Check that the URL is that ` +
      'of a snapshot service.',
    { status: answer.status },
  );
}

/** The SHA-256 of the whole representation, in hex, from Repr-Digest (RFC 9530). Throws `ProtocolError` without one. */
export function representationDigest(answer: Answer): string {
  const header = answer.header('repr-digest') ?? '';
  const encoded = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/u.exec(header)?.[1];
  const hex = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('hex');
  if (!SHA256_HEX_PATTERN.test(hex)) {
    answer.discard();
    throw new ProtocolError('The answer carries no SHA-256 in Repr-Digest, so its bytes cannot be proven.', {
      status: answer.status,
    });
  }
  return hex;
}

export function contentLength(answer: Answer): number | null {
  const header = answer.header('content-length');
  return header !== null && /^\d+$/u.test(header) ? Number(header) : null;
}

/** The error for an answer that is no success. */
async function problemOf(answer: Answer): Promise<Error> {
  const retryAfterSeconds = retryAfter(answer);
  if (mediaType(answer) === PROBLEM_TYPE) {
    const document = parseJson(await readBody(answer), answer);
    if (isProblem(document)) return problemError(document, { retryAfterSeconds });
  }
  answer.discard();
  return new ProtocolError(
    `The answer has status ${answer.status} and is no problem document, so it is not from a snapshot service itself.`,
    { status: answer.status, retryAfterSeconds },
  );
}

function isProblem(value: unknown): value is Problem {
  if (!isObject(value)) return false;
  const { code, detail, status, errors } = value;
  return (
    typeof code === 'string' &&
    typeof detail === 'string' &&
    typeof status === 'number' &&
    (errors === undefined || (Array.isArray(errors) && errors.every(isObject)))
  );
}

function mediaType(answer: Answer): string | null {
  return answer.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? null;
}

/** Seconds, or null; an HTTP date is turned into the seconds from now. */
function retryAfter(answer: Answer): number | null {
  const header = answer.header('retry-after');
  if (header === null) return null;
  if (/^\d+$/u.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}
