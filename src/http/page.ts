/** How the page and its files are sent: whole, from memory, under a policy that lets nothing else run. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkIfMatch, entityTag, isNotModified } from './conditions.ts';
import { HTML_MEDIA_TYPE } from './problem-pages.ts';

export interface PageFile {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Of `bytes`, hex. */
  readonly sha256: string;
}

/** By path below the service's address, as the page names them; the page itself by `PAGE_DOCUMENT`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** The file that a browser gets at the service's own address. */
export const PAGE_DOCUMENT = 'index.html';

/** The page runs its own files and talks to its own service, and to nothing else. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** By the end of a file's name. */
export const PAGE_MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: HTML_MEDIA_TYPE,
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function pageMediaType(name: string): string | undefined {
  return PAGE_MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
}

const GZIP = /(?:^|,)[ \t]*gzip[ \t]*(?:;[ \t]*q=(?:1|0\.0*[1-9])[0-9.]*[ \t]*)?(?:,|$)/iu;

/** Answers 200, 304 or 412; HEAD as GET without the bytes. Compressed for whoever takes that. */
export function sendPageFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  mediaType: string,
): FastifyReply {
  const isGzipped = GZIP.test(request.headers['accept-encoding'] ?? '');
  const etag = entityTag(file.sha256, isGzipped ? '.gz' : '');
  checkIfMatch(request.headers, etag);
  void reply.headers({
    etag,
    'cache-control': 'no-cache',
    vary: mediaType === HTML_MEDIA_TYPE ? 'accept, accept-encoding' : 'accept-encoding',
    'content-security-policy': PAGE_POLICY,
  });
  if (isNotModified(request.headers, etag)) return reply.code(304).send();
  const bytes = isGzipped ? file.gzipped : file.bytes;
  if (isGzipped) void reply.header('content-encoding', 'gzip');
  void reply.header('content-type', mediaType).header('content-length', bytes.length);
  return request.method === 'HEAD' ? reply.send() : reply.send(bytes);
}
