/** POST /snapshots: multipart parts become one publication (CONTRACT, section 3). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SnapshotError } from '../src/contract/errors.ts';
import { ARRAY_KEY_PATTERN } from '../src/contract/ids.ts';
import type { Manifest } from '../src/contract/manifest.ts';
import { NPY_MEDIA_TYPE } from '../src/contract/npy.ts';
import { checkNoMatch } from '../src/http/conditions.ts';
import { contentDigestOf, type ContentDigest } from '../src/http/digests.ts';
import { incomingArrays, readParts, type IncomingPart } from '../src/http/multipart.ts';
import { boundaryOf } from '../src/http/multipart-headers.ts';
import { schemaRef, type JsonObject } from '../src/http/openapi/components.ts';
import { FIRST_MANIFEST, PUBLICATIONS } from '../src/http/openapi/examples.ts';
import { operation } from '../src/http/openapi/operation.ts';
import { watchPace } from '../src/http/request-body.ts';
import { manifestHeaders } from '../src/http/manifest-headers.ts';
import { checkIsNoFileName, FileNamesSent } from '../src/http/forgotten-at.ts';
import { checkContentEncoding } from '../src/http/guards.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

/** From here on it is asked whether there is room for a body before it is asked for; for less the publication asks. */
const MUCH_BYTES = 1024 * 1024;
/** A sender's pace is judged over so long a time. */
const PACE_WINDOW_MS = 30_000;

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
        propertyNames: { type: 'string', pattern: `^(${KEY}|array-${KEY}\\.(bin|npy))$` },
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

const headers = z.object({
  'Content-Digest': z
    .string()
    .optional()
    .meta({
      description:
        'sha-256 or sha-512 of the whole body (RFC 9530). What does not match is refused, and nothing is published; ' +
        'other algorithms are passed over.',
      examples: ['sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:'],
    }),
  'If-None-Match': z
    .string()
    .optional()
    .meta({
      description:
        'Accepted and always kept: a publication creates a snapshot or answers 409, with or without it',
      examples: ['*'],
    }),
});

const schema = operation({
  operationId: 'publishSnapshot',
  tags: ['snapshots'],
  summary: 'Publish a snapshot',
  description:
    'Answers 201 only when every byte is on disk, proven and in place; the snapshot never changes after that. A refused or ' +
    'failed publication leaves nothing under the id, and is never retried. `Expect: 100-continue` is honoured: what can be ' +
    'refused without the body is refused before it.',
  headers,
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
});

export function publishRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route({
    method: 'POST',
    url: '/snapshots',
    schema,
    handler: async (request, reply) => {
      if (config.readOnly) throw readOnly();
      refuseByHeaders(request, config);
      const digest = contentDigestOf(request.headers);
      const { exchange } = request;
      const done = await transfers.beginUpload();
      const endWatch = watchPace(exchange, {
        idleMs: config.idleSeconds * 1000,
        minBytesPerSecond: config.minBytesPerSecond,
        windowMs: PACE_WINDOW_MS,
      });
      try {
        const announcedBytes = Number(request.headers['content-length'] ?? 0);
        if (announcedBytes > MUCH_BYTES) await store.checkRoom(announcedBytes);
        exchange.acceptBody();
        const parts = readParts(request, {
          signal: exchange.signal,
          onChunk: (chunk) => digest?.update(chunk),
        });
        try {
          const metadata = await readMetadata(parts, config.maxMetadataBytes);
          checkIsNoFileName(metadata);
          const draft = await store.readDraft(metadata);
          exchange.outcome.snapshotId = draft.snapshot.snapshot_id;
          const names = new FileNamesSent();
          const payloads = incomingArrays(provenParts(parts, digest, names));
          const published = await store
            .publishDraft(draft, payloads, { signal: exchange.signal, announcedBytes })
            .catch((error: unknown) => {
              throw names.explained(error);
            });
          exchange.outcome.payloadBytes = payloadBytes(published.manifest);
          return await reply
            .code(201)
            .headers(manifestHeaders(config.basePath, published.manifest, { ...published, hasIntent: true }))
            .header('location', `${config.basePath}/snapshots/${draft.snapshot.snapshot_id}`)
            .header('content-type', 'application/json')
            .send(Buffer.from(published.bytes));
        } finally {
          await parts.return();
        }
      } finally {
        endWatch();
        done();
      }
    },
  });
}

/** The end of the parts is the end of the body: a body that is not the promised one fails before it is published. */
async function* provenParts(
  parts: AsyncGenerator<IncomingPart, void, undefined>,
  digest: ContentDigest | null,
  names: FileNamesSent,
): AsyncGenerator<IncomingPart, void, undefined> {
  for await (const part of parts) yield names.watch(part);
  digest?.check();
}

function readOnly(): SnapshotError<'method_not_allowed'> {
  return new SnapshotError(
    'method_not_allowed',
    'This service is read-only: it was started with --read-only. Publish to the one that owns the store.',
    { allow: ['GET', 'HEAD'] },
  );
}

function payloadBytes({ arrays }: Manifest): number {
  return Object.values(arrays).reduce((sum, entry) => sum + Number(entry.byte_length), 0);
}

/** What can be refused before a byte of the body is asked for. */
function refuseByHeaders(request: FastifyRequest, config: ServiceContext['config']): void {
  checkContentEncoding(request.headers);
  checkNoMatch(request.headers);
  boundaryOf(request.headers['content-type']);
  const announced = Number(request.headers['content-length'] ?? 0);
  const limit = config.maxSnapshotBytes + config.maxMetadataBytes + config.maxArrays * 16 * 1024;
  if (announced <= limit) return;
  throw new SnapshotError(
    'limit_exceeded',
    `The body is announced with ${announced} bytes; the limit snapshot_bytes of this service is ${config.maxSnapshotBytes} bytes.`,
    { limit: 'snapshot_bytes', expected: String(config.maxSnapshotBytes), actual: String(announced) },
  );
}

/** The bytes of the first part, which must be the document. */
async function readMetadata(parts: AsyncGenerator<IncomingPart>, maxBytes: number): Promise<Buffer> {
  const first = await parts.next();
  if (first.done === true || first.value.name !== 'metadata') {
    const found =
      first.done === true
        ? 'no part at all'
        : `a part named ${JSON.stringify(first.value.name.slice(0, 80))}`;
    throw new SnapshotError(
      'metadata_missing',
      `The first part must be named "metadata" and hold the JSON document; found ${found}.`,
      {},
    );
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of first.value.chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new SnapshotError(
        'limit_exceeded',
        `The metadata is longer than ${maxBytes} bytes, the limit metadata_bytes of this service.`,
        { limit: 'metadata_bytes', expected: String(maxBytes) },
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
