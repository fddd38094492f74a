/**
 * Digests in headers (RFC 9530): Content-Digest of a request, held against the body that arrived; Repr-Digest of an answer,
 * the SHA-256 of a whole representation, also where a part of it is sent.
 */
import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseDictionary, type Dictionary } from 'structured-headers';
import { SnapshotError } from '../contract/errors.ts';
import { quote } from '../contract/text.ts';

/** Algorithms that are checked, by their names in the registry of RFC 9530, 7.2; others are passed over. */
const ALGORITHMS = [
  { name: 'sha-256', hash: 'sha256', bytes: 32 },
  { name: 'sha-512', hash: 'sha512', bytes: 64 },
] as const;

interface Promised {
  readonly name: string;
  readonly base64: string;
  readonly hash: Hash;
}

/** Sees the body as it arrives and judges it at its end. */
export class ContentDigest {
  readonly #promised: readonly Promised[];

  constructor(promised: readonly Promised[]) {
    this.#promised = promised;
  }

  update(chunk: Uint8Array): void {
    for (const { hash } of this.#promised) hash.update(chunk);
  }

  /** To be called when the body has ended. Throws `invalid_request`. */
  check(): void {
    for (const { name, base64, hash } of this.#promised) {
      const actual = hash.digest('base64');
      if (actual === base64) continue;
      throw new SnapshotError(
        'invalid_request',
        `The body is not what Content-Digest says of it: its ${name} is another. It was changed on its way, or the digest ` +
          'is not that of the whole body; send both again.',
        { expected: `${name}=:${base64}:`, actual: `${name}=:${actual}:` },
      );
    }
  }
}

/** Null where there is nothing to check. Throws `invalid_request` for a header that cannot be read. */
export function contentDigestOf(headers: IncomingHttpHeaders): ContentDigest | null {
  const header = headers['content-digest'];
  if (header === undefined) return null;
  const members = dictionaryOf(header);
  if (members === null || members.size === 0)
    throw unreadable([header].flat().join(', '), 'sha-256=:<base64>:');
  const promised = ALGORITHMS.flatMap(({ name, hash, bytes }) => {
    const member = members.get(name);
    if (member === undefined) return [];
    const value = member[0] as unknown;
    if (!(value instanceof ArrayBuffer) || value.byteLength !== bytes) {
      throw unreadable(name, `${name}=:<base64>:`);
    }
    return [{ name, base64: Buffer.from(value).toString('base64'), hash: createHash(hash) }];
  });
  return promised.length === 0 ? null : new ContentDigest(promised);
}

/** The dictionary of RFC 9651 that one or more header lines hold; null where they hold none. */
function dictionaryOf(header: string | string[]): Dictionary | null {
  try {
    return parseDictionary([header].flat().join(', '));
  } catch {
    return null;
  }
}

function unreadable(found: string, expected: string): SnapshotError<'invalid_request'> {
  return new SnapshotError(
    'invalid_request',
    `Content-Digest cannot be read at ${quote(found)}; send ${expected} or leave it out.`,
    { expected },
  );
}

/** `sha-256=:…:` from 64 hex digits. */
export function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
}

/** Whether `sha-256` is wanted with a preference from 1 to 10; 0 means not acceptable, and other algorithms are not had. */
export function wantsReprDigest(headers: IncomingHttpHeaders): boolean {
  const member = dictionaryOf(headers['want-repr-digest'] ?? '')?.get('sha-256');
  const preference = member?.[0] as unknown;
  return typeof preference === 'number' && preference >= 1 && preference <= 10;
}

/** 64 lowercase hex. */
export async function sha256OfBlocks(blocks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocks) hash.update(block);
  return hash.digest('hex');
}
