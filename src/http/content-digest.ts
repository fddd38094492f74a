/** Content-Digest of a request (RFC 9530): what the client says of its body, held against what arrived. */
import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SnapshotError } from '../contract/errors.ts';
import { quoteSent } from './header-parameters.ts';

/** Algorithms that are checked, by their names in the registry of RFC 9530, 7.2; others are passed over. */
const ALGORITHMS = [
  { name: 'sha-256', hash: 'sha256', base64Length: 44 },
  { name: 'sha-512', hash: 'sha512', base64Length: 88 },
] as const;

/** One member of a dictionary of RFC 9651 with a value that digests may have, or any that we pass over. */
const KEY = '[a-z*][a-z0-9_.*-]*';
const ITEM = '(?::[A-Za-z0-9+/=]*:|"(?:[^"\\\\]|\\\\["\\\\])*"|[^\\s,;"=:]+)';
const MEMBER = new RegExp(`^(?<key>${KEY})(?:=(?<value>${ITEM}))?(?:;[ ]*${KEY}(?:=${ITEM})?)*$`, 'u');

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
  const values = membersOf([header].flat().join(', '));
  const promised = ALGORITHMS.flatMap(({ name, hash, base64Length }) => {
    const value = values.get(name);
    if (value === undefined) return [];
    const base64 = /^:(?<base64>[A-Za-z0-9+/]+=*):$/u.exec(value)?.groups?.['base64'] ?? '';
    if (base64.length !== base64Length) throw unreadable(`${name}=${value}`, `${name}=:<base64>:`);
    return [{ name, base64, hash: createHash(hash) }];
  });
  return promised.length === 0 ? null : new ContentDigest(promised);
}

/** Of a name that is there twice the last counts, as RFC 9651 has it. */
function membersOf(header: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const member of header.split(/[ \t]*,[ \t]*/u)) {
    const match = MEMBER.exec(member.replace(/^ +| +$/gu, ''));
    const { key, value = '?1' } = match?.groups ?? {};
    if (key === undefined) throw unreadable(member, 'sha-256=:<base64>:');
    members.set(key, value);
  }
  return members;
}

function unreadable(found: string, expected: string): SnapshotError<'invalid_request'> {
  return new SnapshotError(
    'invalid_request',
    `Content-Digest cannot be read at ${quoteSent(found)}; send ${expected} or leave it out.`,
    { expected },
  );
}
