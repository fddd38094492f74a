/** POST and GET /snapshots. */
import { ARRAY_KEY_PATTERN } from '../../../contract/ids.ts';
import { NPY_MEDIA_TYPE } from '../../../contract/npy.ts';
import { schemaRef } from '../components.ts';
import { FIRST_MANIFEST, LISTING, PUBLICATIONS } from '../examples.ts';
import type { JsonObject } from '../json-object.ts';
import type { Resource } from '../operation.ts';

const KEY = ARRAY_KEY_PATTERN.source.slice(1, -1);

const requestBody: JsonObject = {
  required: true,
  description:
    'The part `metadata` comes first. Then one part for each array that it declares, in any order, named by its key or by ' +
    'its file name `array-<key>.bin`: every byte of it is payload, little-endian, `count` times the width of the dtype. ' +
    `A part of the media type \`${NPY_MEDIA_TYPE}\`, named by its key or \`array-<key>.npy\`, is a .npy file: its header is ` +
    'read for dtype and count, and the raw payload is stored. File names and other media types of parts do not matter. ' +
    'What is declared has to arrive, and what arrives has to be declared.',
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['metadata'],
        properties: { metadata: { $ref: schemaRef('DraftManifest') } },
        propertyNames: { pattern: `^(${KEY}|array-${KEY}\\.(bin|npy))$` },
        // Generators of clients see parts of free names here, and not under patternProperties. Without a type, as TypeScript
        // has no index signature that would leave `metadata` its own.
        additionalProperties: {
          contentMediaType: 'application/octet-stream',
          description:
            'An array by its key (or `metadata`, where that is first) or by its file name: raw bytes, or a .npy file of one dimension',
        },
      },
      encoding: { metadata: { contentType: 'application/json' } },
      examples: PUBLICATIONS,
    },
  },
};

const follow = (description: string, operationId: string): JsonObject => ({
  operationId,
  parameters: { snapshot_id: '$response.body#/snapshot/snapshot_id' },
  description,
});

export const snapshotsResource: Resource = {
  path: '/snapshots',
  post: {
    id: 'publishSnapshot',
    tag: 'snapshots',
    summary: 'Publish a snapshot',
    description:
      'Answers 201 only when every byte is on disk, proven and in place; the snapshot never changes after that. A refused or ' +
      'failed publication leaves nothing under the id, and is never retried. `Expect: 100-continue` is honoured: what can be ' +
      'refused without the body is refused before it.',
    parameters: ['ContentDigest', 'IfNoneMatchAny'],
    requestBody,
    successes: [
      {
        status: 201,
        description: "Published. The content is the manifest's exact bytes.",
        headers: ['Location', 'ETag', 'Repr-Digest', 'Link'],
        content: {
          mediaType: 'application/json',
          schema: 'Manifest',
          examples: { first: { value: FIRST_MANIFEST } },
        },
        links: {
          snapshot: follow('The snapshot', 'getSnapshot'),
          package: follow('All its files in one archive', 'getPackage'),
        },
      },
    ],
    refusals: [
      'malformed_multipart',
      'malformed_json',
      'metadata_missing',
      'method_not_allowed',
      'snapshot_exists',
      'publication_in_progress',
      'precondition_failed',
      'unsupported_media_type',
      'contract_violation',
      'fingerprint_context_mismatch',
      'parent_not_complete',
      'array_mismatch',
      'publication_failed',
      'publication_uncertain',
      'insufficient_storage',
    ],
  },
  get: {
    id: 'listSnapshots',
    tag: 'snapshots',
    summary: 'List what is published',
    description:
      'Every snapshot of the page is proven, byte for byte unless `proof=frame`; if one cannot be, the answer is 500 and names ' +
      'each that cannot, unless `damaged=show`. A page with `limit` is proven before its first byte and ends earlier, with ' +
      '`next`, after 4 MiB or some seconds of proving. Without `limit` it is everything, sent as it is proven: what cannot be ' +
      'proven within the first second or 256 KiB is 500, later it breaks the connection, never ends it cleanly. A few ' +
      'listings run at once; more wait two seconds and are then 503.',
    parameters: [
      'Limit',
      'AfterSnapshot',
      'SourceNamespace',
      'ParentId',
      'Since',
      'Until',
      'Order',
      'Proof',
      'Damaged',
    ],
    successes: [
      {
        status: 200,
        description: 'A page of snapshots',
        headers: ['Link'],
        content: {
          mediaType: 'application/json',
          schema: 'SnapshotListing',
          examples: { one: { value: LISTING } },
        },
      },
    ],
    refusals: ['storage_integrity', 'unsupported_package', 'unavailable'],
  },
};
