/** The OpenAPI 3.1 document of the service, collected from the schemas of its routes. */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { packageVersion } from '../../package-version.ts';
import { schemaComponents, PACKAGE_NAME, type JsonObject, type ServiceIndex } from './components.ts';
import { headerComponents } from './headers.ts';
import { headOf, Refusals, writtenOperation, type Operation, type Tag } from './operation.ts';

const TAGS = {
  snapshots: 'Immutable, checksummed snapshots of one-dimensional integer arrays',
  store: 'What is in the store beside snapshots',
  operating: 'For those who run the service',
  documentation: 'What the service says of itself',
} as const satisfies Record<Tag, string>;

const DESCRIPTION = `Keeps immutable, checksummed snapshots of one-dimensional integer arrays.

- **Publishing** is one multipart request; its 201 means that every byte is on disk, proven and in place.
- **Reading** proves the stored bytes first. What cannot be proven is refused, never handed out in part.
- **Refusals** are problem documents (RFC 9457) with a stable \`code\`; a \`type\` is the path of a page that explains it.

Any other path is a 404 \`not_found\`, any other method of a path a 405 \`method_not_allowed\` with \`Allow\`.
Integers of 64 bits travel as decimal strings. After a refusal whose request body was not read to its end the connection
is closed. A service without a token lets every request pass that names one of its hosts and comes from no other site.`;

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly [member: string]: unknown;
}

/** Collects the schemas of all routes that are registered after it; `app.swagger()` gives their document. */
export async function collectDocument(app: FastifyInstance, basePath: string): Promise<void> {
  await app.register(swagger, {
    mode: 'dynamic',
    openapi: {},
    hideUntagged: true,
    // The plugin keeps what begins with x- as it is, and the rest is written here.
    transform: ({ url, route: { schema } }) => ({
      schema: { tags: [...(schema?.tags ?? [])], [CARRIED]: schema } as FastifySchema,
      url: documentedPath(url.slice(basePath.length)),
    }),
    transformObject: (collected) => {
      if (!('openapiObject' in collected)) throw new TypeError('Expected a document of OpenAPI 3.');
      const paths = collected.openapiObject.paths as unknown as CollectedPaths;
      return openApiDocument(basePath, paths) as unknown as typeof collected.openapiObject;
    },
  });
}

const CARRIED = 'x-schema';
type CollectedPaths = Readonly<Record<string, Readonly<Record<string, { readonly [CARRIED]: Operation }>>>>;

/** `/a/:b.c` as `/a/{b}.c`, without the slash at an alias's end; the one wildcard is a file of the interactive page. */
function documentedPath(url: string): string {
  return url
    .replace(/:([a-z_]+)/gu, '{$1}')
    .replace(/\*$/u, '{file}')
    .replace(/(?<=.)\/$/u, '');
}

/** The document as the service gives it. */
export function documentOf(app: FastifyInstance): OpenApiDocument {
  return app.swagger() as unknown as OpenApiDocument;
}

/** Resources that can be read without knowing any id, by their paths. */
export function indexOf({ info, paths }: OpenApiDocument, basePath: string): ServiceIndex {
  const readable = Object.entries(paths).filter(
    ([path, { get }]) => get !== undefined && !path.includes('{'),
  );
  return {
    name: PACKAGE_NAME,
    version: String(info['version']),
    resources: Object.fromEntries(
      readable.map(([path, { get }]) => [`${basePath}${path}`, String(get?.['summary'])]),
    ),
  };
}

function openApiDocument(basePath: string, collected: CollectedPaths): OpenApiDocument {
  const refusals = new Refusals();
  const paths = Object.fromEntries(
    Object.entries(collected).map(([path, item]) => [path, pathItem(item, refusals)]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'PipeWhy snapshots',
      version: packageVersion(),
      summary: 'Snapshots that are proven at every read',
      description: DESCRIPTION,
      contact: { name: 'The operator of the service that gave this document' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath, description: 'The service that gave this document' }],
    security: [{ token: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token that the service was given, to publish and read or to read only; none where it was given none',
        },
      },
      headers: headerComponents(),
      responses: refusals.components(),
      schemas: schemaComponents(),
    },
  };
}

function pathItem(methods: CollectedPaths[string], refusals: Refusals): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(methods).map(([method, { [CARRIED]: operation }]) => [
      method,
      method === 'head'
        ? writtenOperation(headOf(operation), refusals, false)
        : writtenOperation(operation, refusals, true),
    ]),
  );
}
