/** The OpenAPI 3.1 document of the service, made from the schemas and tables beside it. */
import { packageVersion } from '../../package-version.ts';
import { headerComponents } from './headers.ts';
import type { JsonObject } from './json-object.ts';
import type { Operation, Resource, Tag } from './operation.ts';
import { parameterComponents, parameterRefs } from './parameters.ts';
import { schemaComponents } from './components.ts';
import { Refusals, successResponse } from './responses.ts';
import { arrayResources } from './resources/arrays.ts';
import { documentationResources } from './resources/documentation.ts';
import { operatingResources } from './resources/operating.ts';
import { snapshotsResource } from './resources/publish.ts';
import { snapshotResources } from './resources/snapshot.ts';
import { storeResources } from './resources/store.ts';

const RESOURCES: readonly Resource[] = [
  snapshotsResource,
  ...snapshotResources,
  ...arrayResources,
  ...storeResources,
  ...operatingResources,
  ...documentationResources,
];

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

/** `basePath` is the path prefix of the service, nothing or `/…`. */
export function openApiDocument(basePath: string): OpenApiDocument {
  const refusals = new Refusals();
  const paths = Object.fromEntries(
    RESOURCES.map((resource) => [resource.path, pathItem(resource, refusals)]),
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
      parameters: parameterComponents(),
      headers: headerComponents(),
      responses: refusals.components(),
      schemas: schemaComponents(),
    },
  };
}

/** The document as it is kept in the repository. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(''), null, 2)}\n`;
}

function pathItem({ get, post }: Resource, refusals: Refusals): Record<string, JsonObject> {
  return {
    ...(get === undefined
      ? {}
      : { get: written(get, refusals, true), head: written(headOf(get), refusals, false) }),
    ...(post === undefined ? {} : { post: written(post, refusals, true) }),
  };
}

/** HEAD proves what GET proves and sends its headers. A range is never cut from it. */
function headOf({ id, summary, successes, parameters, ...get }: Operation): Operation {
  return {
    ...get,
    id: `head${id[0]?.toUpperCase() ?? ''}${id.slice(1)}`,
    summary: `${summary}, the headers alone`,
    successes: successes.filter(({ status }) => status !== 206),
    refusals: get.refusals.filter((code) => code !== 'range_not_satisfiable'),
    ...(parameters === undefined
      ? {}
      : { parameters: parameters.filter((name) => name !== 'Range' && name !== 'IfRange') }),
  };
}

function written(operation: Operation, refusals: Refusals, withContent: boolean): JsonObject {
  const { id, tag, summary, description, parameters, requestBody, successes, probe, open } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(probe === true || open === true ? { security: [] } : {}),
    ...(parameters === undefined ? {} : { parameters: parameterRefs(parameters) }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...Object.fromEntries(
        successes.map((success) => [success.status, successResponse(success, withContent)]),
      ),
      ...refusals.responses(operation, withContent),
    },
  };
}
