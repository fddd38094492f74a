/** GET and HEAD of the service's own address: the page for a browser, an index for everyone else; and the page's files. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SnapshotError } from '../src/contract/errors.ts';
import { nothingHere } from '../src/http/error-handler.ts';
import { documentOf, indexOf } from '../src/http/openapi/document.ts';
import { operation, PAGE, UNCHANGED_FILE } from '../src/http/openapi/operation.ts';
import {
  PAGE_DOCUMENT,
  PAGE_MEDIA_TYPES,
  pageMediaType,
  sendPageFile,
  type PageFiles,
} from '../src/http/page.ts';
import { CONDITIONS } from '../src/http/parameters.ts';
import { sendJson } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const HTML = /(?:^|,)[ \t]*text\/html[ \t]*(?:[;,]|$)/iu;

const headers = z.object(CONDITIONS);
const FILE_HEADERS = ['ETag', 'Vary'] as const;

const rootSchema = operation({
  tags: ['documentation'],
  operationId: 'getRoot',
  open: true,
  summary: 'Open the page, or read what there is',
  description:
    'For browsers, that is where Accept names text/html, the page on which the store is looked at; for everyone else an index ' +
    'of the resources.',
  headers,
  successes: [
    {
      ...PAGE,
      description: 'The page, or the index',
      headers: ['Vary', 'Content-Encoding'],
      optionalHeaders: ['ETag'],
      otherContent: { mediaType: 'application/json', schema: 'ServiceIndex' },
    },
    { status: 304, description: UNCHANGED_FILE, headers: FILE_HEADERS },
  ],
  refusals: ['not_found', 'precondition_failed'],
});

const fileSchema = operation({
  tags: ['documentation'],
  operationId: 'getPageFile',
  open: true,
  summary: 'Read a file of the page',
  description: 'Scripts, styles and the icon that the page names; nothing is loaded from any other host.',
  params: z.object({
    page_file: z.string().meta({
      description: 'A file of the page',
      pattern: `^[a-z0-9-]+\\.(${Object.keys(PAGE_MEDIA_TYPES).join('|')})$`,
      examples: ['app.js'],
    }),
  }),
  headers,
  successes: [
    {
      status: 200,
      description: 'The file, under the media type of its kind',
      headers: [...FILE_HEADERS, 'Content-Encoding'],
      content: { mediaType: '*/*' },
    },
    { status: 304, description: UNCHANGED_FILE, headers: FILE_HEADERS },
  ],
  refusals: ['not_found', 'precondition_failed'],
});

export function pageRoutes(
  app: FastifyInstance,
  { config: { basePath } }: ServiceContext,
  pageFiles: () => PageFiles,
): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    schema: rootSchema,
    // Under a base path the address ends in a slash, as a folder's does: the page names its files relative to it.
    prefixTrailingSlash: 'slash',
    handler: (request, reply) => {
      if (!HTML.test(request.headers.accept ?? '')) {
        void reply.header('cache-control', 'no-cache').header('vary', 'accept');
        return sendJson(reply, indexOf(documentOf(app), basePath));
      }
      const page = pageFiles().get(PAGE_DOCUMENT);
      if (page === undefined) throw nothingHere(basePath);
      return sendPageFile(request, reply, page, pageMediaType(PAGE_DOCUMENT) ?? '');
    },
  });
  app.route<{ Params: { page_file: string } }>({
    method: ['GET', 'HEAD'],
    url: '/page/:page_file',
    schema: fileSchema,
    handler: (request, reply) => {
      const { page_file: name } = request.params;
      const file = pageFiles().get(`page/${name}`);
      const mediaType = pageMediaType(name);
      if (file === undefined || mediaType === undefined) throw noSuchFile(basePath);
      return sendPageFile(request, reply, file, mediaType);
    },
  });
}

function noSuchFile(basePath: string): SnapshotError<'not_found'> {
  return new SnapshotError('not_found', `The page has no such file; open ${basePath}/ itself.`, {});
}
