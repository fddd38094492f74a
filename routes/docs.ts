/** GET /docs: the interface as a page to read and to try, also to publish from. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { registerDocsPage } from '../src/http/docs-page.ts';
import { DOCUMENT, operation, PAGE, type Operation } from '../src/http/openapi/operation.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

/** Of the routes that the page's plugin makes, by their paths. */
const SCHEMAS: Readonly<Record<string, Operation>> = {
  '/docs': operation({
    tags: ['documentation'],
    operationId: 'getDocs',
    open: true,
    summary: 'Open the interactive page',
    description: 'Also with a slash at the end of its path.',
    successes: [PAGE],
    refusals: [],
  }),
  '/docs/json': operation({
    tags: ['documentation'],
    operationId: 'getDocsDocument',
    open: true,
    summary: 'Read the document as the interactive page shows it',
    description:
      'Arrays are chosen as files there, and named by them; use /openapi.json for everything else.',
    successes: [
      {
        status: 200,
        description: 'OpenAPI 3.1',
        content: { mediaType: 'application/json; charset=utf-8', schema: DOCUMENT },
      },
    ],
    refusals: [],
  }),
  '/docs/yaml': operation({
    tags: ['documentation'],
    operationId: 'getDocsYaml',
    open: true,
    summary: 'Read the document as the interactive page shows it, as YAML',
    description: 'The same as /docs/json in another notation.',
    successes: [
      {
        status: 200,
        description: 'OpenAPI 3.1',
        content: { mediaType: 'application/x-yaml', schema: { type: 'string' } },
      },
    ],
    refusals: [],
  }),
  '/docs/static/*': operation({
    tags: ['documentation'],
    operationId: 'getDocsAsset',
    open: true,
    summary: 'Read a file of the interactive page',
    description: 'Scripts and styles that /docs names; nothing is loaded from any other host.',
    params: z.object({
      file: z.string().meta({
        description: 'A file of the page /docs',
        pattern: '^[A-Za-z0-9._-]+$',
        examples: ['swagger-ui.css'],
      }),
    }),
    headers: z.object({
      'If-Modified-Since': z
        .string()
        .optional()
        .describe('The Last-Modified of the file that the client has'),
    }),
    successes: [
      {
        status: 200,
        description: 'The file, under the media type of its kind',
        headers: ['Last-Modified'],
        content: { mediaType: '*/*' },
      },
      { status: 304, description: 'The client has the file.', headers: ['Last-Modified'] },
    ],
    refusals: ['not_found'],
  }),
};

export async function docsRoutes(app: FastifyInstance, { config }: ServiceContext): Promise<void> {
  await app.register((scope) => registerDocsPage(scope, config.basePath, SCHEMAS));
}
