/** What the service says of itself. */
import type { JsonObject } from '../json-object.ts';
import type { Operation, Resource, Success } from '../operation.ts';

const HTML = 'text/html; charset=utf-8';
const page: Success = {
  status: 200,
  description: 'The page',
  content: { mediaType: HTML, schema: { type: 'string' } },
};
const document: JsonObject = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
};

function documentation(given: Omit<Operation, 'tag'>): Operation {
  return { ...given, tag: 'documentation' };
}

function documentationPage(id: string, summary: string, description: string): Operation {
  return documentation({ id, summary, description, successes: [page], refusals: [] });
}

export const documentationResources: readonly Resource[] = [
  {
    path: '/',
    get: documentation({
      id: 'getRoot',
      summary: 'Be led to the interactive page',
      description: 'For browsers, that is where Accept names text/html; everyone else is told where to look.',
      successes: [{ status: 302, description: 'To /docs', headers: ['Location', 'Content-Length'] }],
      refusals: ['not_found'],
    }),
  },
  {
    path: '/openapi.json',
    get: documentation({
      id: 'getOpenApi',
      summary: 'Read this document',
      description:
        'Its version is that of the package; `npm run openapi` writes the same document to a file.',
      successes: [
        {
          status: 200,
          description: 'OpenAPI 3.1',
          content: { mediaType: 'application/json', schema: document },
        },
      ],
      refusals: [],
    }),
  },
  {
    path: '/docs',
    get: {
      ...documentationPage(
        'getDocs',
        'Open the interactive page',
        'Also with a slash at the end of its path.',
      ),
      open: true,
    },
  },
  {
    path: '/docs/json',
    get: documentation({
      id: 'getDocsDocument',
      open: true,
      summary: 'Read the document as the interactive page shows it',
      description:
        'Arrays are chosen as files there, and named by them; use /openapi.json for everything else.',
      successes: [
        {
          status: 200,
          description: 'OpenAPI 3.1',
          content: { mediaType: 'application/json; charset=utf-8', schema: document },
        },
      ],
      refusals: [],
    }),
  },
  {
    path: '/docs/yaml',
    get: documentation({
      id: 'getDocsYaml',
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
  },
  {
    path: '/docs/static/{file}',
    get: documentation({
      id: 'getDocsAsset',
      open: true,
      summary: 'Read a file of the interactive page',
      description: 'Scripts and styles that /docs names; nothing is loaded from any other host.',
      parameters: ['AssetName', 'IfModifiedSince'],
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
  },
  {
    path: '/problems',
    get: documentationPage(
      'listProblems',
      'Read about all problem codes',
      'One line for each, with its status.',
    ),
  },
  {
    path: '/problems/{code}',
    get: documentation({
      id: 'getProblem',
      summary: 'Read about a problem code',
      description: 'The type of every problem document leads here.',
      parameters: ['ProblemCode'],
      successes: [page],
      refusals: ['not_found'],
    }),
  },
];
