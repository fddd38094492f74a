/** Who may come in: checked for every request before its route or its body is looked at. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SnapshotError } from '../contract/errors.ts';
import { canonicalHost, isLoopback } from './hosts.ts';

/** Hosts that requests may name beside loopback ones, in canonical spelling; null accepts any. */
export type AllowedHosts = ReadonlySet<string> | null;

/**
 * The names for one listening address. A wildcard address is reached by names only its operator knows, so there the
 * configured ones are added to loopback; `*` switches the check off.
 */
export function allowedHosts(listeningHost: string, configured: readonly string[]): AllowedHosts {
  if (configured.includes('*')) return null;
  return new Set([listeningHost, ...configured].map(canonicalHost));
}

/**
 * Against DNS rebinding: a page of another site can make a browser come here, but not under one of our names. One host is
 * named once: of two headers, or of a whole URL as the target beside another Host, whoever reads decides (RFC 9112, 3.2).
 *
 * @param byAddress whether the address at which the connection arrived is a name too
 */
export function checkHost(request: IncomingMessage, allowed: AllowedHosts, byAddress: boolean): void {
  if (allowed === null) return;
  const [host, ...more] = request.headersDistinct['host'] ?? [];
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/iu.exec(request.url ?? '')?.[1];
  const name = hostName(host);
  const isOne = more.length === 0 && (target === undefined || target.toLowerCase() === host?.toLowerCase());
  if (isOne && name !== null) {
    if (isLoopback(name) || allowed.has(name)) return;
    const { localAddress } = request.socket;
    if (byAddress && localAddress !== undefined && canonicalHost(localAddress) === name) return;
  }
  throw new SnapshotError(
    'forbidden_host',
    'The request does not name exactly one host that this service answers to; call it by one of its own names, or add the ' +
      'name to SNAPSHOTS_ALLOWED_HOSTS.',
    {},
  );
}

function hostName(host: string | undefined): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/iu.exec(host ?? '');
  return match?.[1] === undefined ? null : canonicalHost(match[1]);
}

/** Refuses what a browser says comes from another site; a person following a link to a page may still read it. */
export function checkOrigin(method: string, headers: IncomingHttpHeaders): void {
  const { origin } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, headers.host)) throw crossSite();
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  const opensPage =
    (method === 'GET' || method === 'HEAD') &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  if (!opensPage) throw crossSite();
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const match = /^https?:\/\/([^/]+)$/iu.exec(origin);
  return host !== undefined && match?.[1]?.toLowerCase() === host.toLowerCase();
}

function crossSite(): SnapshotError<'forbidden_origin'> {
  return new SnapshotError(
    'forbidden_origin',
    'The request comes from a page of another site (Origin or Sec-Fetch-Site); this service answers its own ' +
      'pages and programs only. Open the page of the service itself, or use a program.',
    {},
  );
}

/** What the bearer of a token may do; `publish` includes `read`. */
export type Access = 'publish' | 'read' | 'none';

/** Throws `unauthorized` for no token, for an unknown one, and for one that only reads where something is published. */
export function checkToken(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  accessOf: (token: string) => Access,
): void {
  const token = /^Bearer +(\S+) *$/iu.exec(headers.authorization ?? '')?.[1];
  const access = token === undefined ? 'none' : accessOf(token);
  if (access === 'publish' || (access === 'read' && method !== 'POST')) return;
  throw new SnapshotError('unauthorized', tokenAdvice(token, access), {});
}

function tokenAdvice(token: string | undefined, access: Access): string {
  if (token === undefined) return 'This service needs a token: send it as "Authorization: Bearer <token>".';
  if (access === 'read')
    return 'This token may only read; to publish, send one that this service was given for it.';
  return 'The token is not one that this service was given; send such a one as "Authorization: Bearer <token>".';
}

/** Only 100-continue can be expected of this service (RFC 9110, 10.1.1). */
export function checkExpectation(headers: IncomingHttpHeaders): void {
  const expected = (headers.expect ?? '').split(',').map((member) => member.trim().toLowerCase());
  if (headers.expect === undefined || expected.every((member) => member === '100-continue')) return;
  throw new SnapshotError(
    'expectation_failed',
    'Nothing but 100-continue can be expected; leave the Expect header out.',
    {
      expected: '100-continue',
    },
  );
}

/** No coding is undone here, of the content or of its transfer: what is stored is what was sent. */
export function checkContentEncoding(headers: IncomingHttpHeaders): void {
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    throw new SnapshotError(
      'unsupported_media_type',
      'Of transfer codings only chunked is supported; send the body as it is.',
      { expected: 'chunked' },
    );
  }
  if (headers['content-encoding'] === undefined) return;
  throw new SnapshotError(
    'unsupported_media_type',
    'A Content-Encoding is not supported for requests; send the body as it is.',
    { expected: 'no Content-Encoding' },
  );
}
