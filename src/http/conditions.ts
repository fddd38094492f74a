/** Conditional requests (RFC 9110, section 13) and the one range a download may ask for (section 14). */
import type { IncomingHttpHeaders } from 'node:http';
import { SnapshotError } from '../contract/errors.ts';

/** A strong entity tag for bytes of this SHA-256. */
export function entityTag(sha256: string, variant = ''): string {
  return `"${sha256}${variant}"`;
}

function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"|\*/gu) ?? [];
}

/** If-None-Match compares weakly: a 304 says the client's copy will do. */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return tagsOf(header).some((tag) => tag === '*' || tag.replace(/^W\//u, '') === etag);
}

/** If-Match compares strongly. Throws `precondition_failed`. */
export function checkIfMatch(headers: IncomingHttpHeaders, etag: string): void {
  const header = headers['if-match'];
  if (header === undefined || tagsOf(header).some((tag) => tag === '*' || tag === etag)) return;
  throw new SnapshotError(
    'precondition_failed',
    'If-Match names another state than the stored one; published snapshots never change, so it was never this one. ' +
      'Ask without If-Match.',
    { expected: etag, actual: header.slice(0, 200) },
  );
}

/**
 * For a publication, which only ever creates: If-None-Match holds whatever it names, as nothing is stored yet, and for the
 * same reason If-Match cannot. Throws `precondition_failed`.
 */
export function checkNoMatch(headers: IncomingHttpHeaders): void {
  const header = headers['if-match'];
  if (header === undefined) return;
  throw new SnapshotError(
    'precondition_failed',
    'A publication never changes what is stored, so there is nothing for If-Match to match; leave it out.',
    { expected: 'no If-Match', actual: header.slice(0, 200) },
  );
}

export interface ByteRange {
  readonly start: number;
  /** One after the last byte. */
  readonly end: number;
}

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/iu;

/**
 * The range to serve, or null for everything: no Range, several ranges, another unit, bad syntax (also a last position
 * before the first), or an If-Range that names another state. Throws `range_not_satisfiable`.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  etag: string,
  byteLength: number,
): ByteRange | null {
  const { range } = headers;
  if (range === undefined) return null;
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag) return null;
  const [, first = '', last = ''] = ONE_RANGE.exec(range) ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  // Of a suffix that is longer than everything, everything is meant.
  const start = first === '' ? Math.max(0, byteLength - Number(last)) : Number(first);
  const end = first === '' || last === '' ? byteLength : Math.min(byteLength, Number(last) + 1);
  if (start >= end) {
    throw new SnapshotError(
      'range_not_satisfiable',
      `The range lies outside the ${byteLength} bytes there are; ask for one within them, or for everything without Range.`,
      { byte_length: String(byteLength) },
    );
  }
  return { start, end };
}
