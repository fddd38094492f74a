/** Publishing from the page /docs: the document as the page shows it, and what the page does to a request. */
import { randomUUID } from 'node:crypto';
import { FIRST_METADATA } from './openapi/examples.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { schemaRef } from './openapi/components.ts';
import { COMMON_HEADERS } from './openapi/headers.ts';

/** The page shows a picker for each of these at once; behind `more_arrays` there are as many as it is asked for. */
const PICKERS = ['array_1', 'array_2', 'array_3', 'array_4'];

const PICKER = 'One more, where the metadata declares more than one';
const FIRST_PICKER =
  'The file of an array, named by its key: `<key>.bin` or `array-<key>.bin` (raw little-endian bytes), `<key>.npy` or ' +
  `\`array-<key>.npy\` (as numpy.save writes them). For the metadata as they stand any file \`${exampleFiles()}\` does.`;

const FILE = { type: 'string', format: 'binary' } as const;

/**
 * A form cannot have fields of free names, so the page has pickers for any file; the files bring their names with them.
 * The example has an id of its own at every call, so that it can be published as it stands, by everyone who opens the page.
 */
export function documentForPage(document: OpenApiDocument): OpenApiDocument {
  const { paths } = document;
  const resource = paths['/snapshots'];
  const post = resource?.['post'];
  if (post === undefined) throw new TypeError('Expected the document to have POST /snapshots.');
  const schema = {
    type: 'object',
    required: ['metadata'],
    properties: {
      metadata: { $ref: schemaRef('DraftManifest'), example: exampleMetadata() },
      ...Object.fromEntries(
        PICKERS.map((name, index) => [name, { ...FILE, description: index === 0 ? FIRST_PICKER : PICKER }]),
      ),
      more_arrays: { type: 'array', items: FILE, example: [], description: PICKER },
    },
  };
  const requestBody = {
    required: true,
    content: {
      'multipart/form-data': { schema, encoding: { metadata: { contentType: 'application/json' } } },
    },
  };
  const changed: OpenApiDocument['paths'] = {
    ...paths,
    '/snapshots': { ...resource, post: { ...post, requestBody } },
  };
  return withoutRepetition({ ...document, paths: changed });
}

function exampleFiles(): string {
  return Object.keys(FIRST_METADATA.arrays)
    .map((key) => `${key}.bin`)
    .join();
}

/** As text, which the page shows as it is; of an object it mixes up the members. */
function exampleMetadata(): string {
  const { snapshot, arrays } = FIRST_METADATA;
  const metadata = { snapshot: { ...snapshot, snapshot_id: randomUUID().replaceAll('-', '') }, arrays };
  return JSON.stringify(metadata, null, 2);
}

/** HEAD says nothing that GET does not, and some headers are in every answer: both would make the page many times as long. */
function withoutRepetition(document: OpenApiDocument): OpenApiDocument {
  const paths = Object.entries(document.paths).map(([path, { head: _head, ...item }]) => [path, item]);
  const text = JSON.stringify({ ...document, paths: Object.fromEntries(paths) as unknown });
  const repeated = new Set(COMMON_HEADERS.map((name) => `#/components/headers/${name}`));
  const shown: unknown = JSON.parse(text, (_name, value: unknown) =>
    isReferenceTo(value, repeated) ? undefined : value,
  );
  return shown as OpenApiDocument;
}

function isReferenceTo(value: unknown, targets: ReadonlySet<string>): boolean {
  return typeof value === 'object' && value !== null && '$ref' in value && targets.has(String(value.$ref));
}

interface PageRequest {
  body?: unknown;
}

/**
 * Runs in the browser, as its own source text: uses nothing from outside. Puts the metadata first, as the service needs
 * it, and names each file's part by the key in the file's name.
 */
export function nameParts(request: PageRequest): PageRequest {
  if (!(request.body instanceof FormData)) return request;
  const form = new FormData();
  const metadata = request.body.get('metadata');
  if (metadata !== null)
    form.append('metadata', new Blob([metadata], { type: 'application/json' }), 'metadata.json');
  for (const [name, value] of request.body) {
    // What is no file is the form's filling for a field that was left alone.
    if (name === 'metadata' || typeof value === 'string') continue;
    const match = /^(?:array-)?([a-z][a-z0-9_]{0,63})\.(bin|npy)$/.exec(value.name);
    const type = match?.[2] === 'npy' ? 'application/x-npy' : 'application/octet-stream';
    const part = match === null ? value.name : `array-${match[1] ?? ''}.${match[2] ?? ''}`;
    form.append(part, new Blob([value], { type }), value.name);
  }
  request.body = form;
  return request;
}
