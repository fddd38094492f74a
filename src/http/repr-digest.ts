/** Repr-Digest and the wish for it (RFC 9530): the SHA-256 of a whole representation, also where a part of it is sent. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** `sha-256=:…:` from 64 hex digits. */
export function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
}

/** `sha-256` with a preference from 1 to 10; 0 means not acceptable, and other algorithms are not had. */
const WANTED = /(?:^|,)[ \t]*sha-256=(?:[1-9]|10)[ \t]*(?:,|$)/u;

export function wantsReprDigest(headers: IncomingHttpHeaders): boolean {
  return WANTED.test([headers['want-repr-digest'] ?? []].flat().join(', '));
}

/** 64 lowercase hex. */
export async function sha256OfBlocks(blocks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocks) hash.update(block);
  return hash.digest('hex');
}
