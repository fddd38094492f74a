/** GET and HEAD of one snapshot's manifest, marker and intent, after every byte of the snapshot was proven. */
import { intentBytes, markerBytes } from '../src/contract/package.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sha256Hex } from '../src/contract/digest.ts';
import { SnapshotError } from '../src/contract/errors.ts';
import { checkIfMatch, entityTag, isNotModified } from '../src/http/conditions.ts';
import { reprDigest } from '../src/http/digests.ts';
import { manifestHeaders } from '../src/http/manifest-headers.ts';
import { FIRST_ID, FIRST_MANIFEST, FIRST_MARKER } from '../src/http/openapi/examples.ts';
import type { HeaderName } from '../src/http/openapi/headers.ts';
import { operation, READ_REFUSALS, UNCHANGED, type Success } from '../src/http/openapi/operation.ts';
import { CONDITIONS, snapshotIdOf, snapshotIdParam, WANT_REPR_DIGEST } from '../src/http/parameters.ts';
import type { SnapshotId } from '../src/contract/ids.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

interface Params {
  Params: z.output<typeof params>;
}

const params = z.object({ snapshot_id: snapshotIdParam });
const headers = z.object({ ...CONDITIONS, ...WANT_REPR_DIGEST });
const MANIFEST_HEADERS: readonly HeaderName[] = ['ETag', 'Repr-Digest', 'Link'];

const manifest: Success = {
  status: 200,
  description: "The manifest's exact bytes; every byte of the snapshot was proven first.",
  headers: MANIFEST_HEADERS,
  content: {
    mediaType: 'application/json',
    schema: 'Manifest',
    examples: { first: { value: FIRST_MANIFEST } },
  },
};

const manifestSchema = {
  tags: ['snapshots'],
  description: 'Every byte of the snapshot is proven first. A refusal never hands out a part of it.',
  params,
  headers,
  successes: [manifest, { status: 304, description: UNCHANGED, headers: MANIFEST_HEADERS }],
  refusals: READ_REFUSALS,
} as const;

const snapshotSchema = operation({
  ...manifestSchema,
  operationId: 'getSnapshot',
  summary: 'Read a snapshot',
});

const manifestFileSchema = operation({
  ...manifestSchema,
  operationId: 'getManifest',
  summary: 'Read the manifest under its file name',
});

const markerSchema = operation({
  operationId: 'getMarker',
  tags: ['snapshots'],
  summary: 'Read the marker',
  description: 'SHA-256 of the manifest in hex and a newline; every byte of the snapshot was proven first.',
  params,
  headers,
  successes: [
    {
      status: 200,
      description: 'The exact bytes of the marker',
      headers: ['ETag', 'Repr-Digest'],
      content: {
        mediaType: 'text/plain; charset=us-ascii',
        schema: { type: 'string', pattern: '^[0-9a-f]{64}\\n$' },
        examples: { first: { value: FIRST_MARKER } },
      },
    },
    { status: 304, description: UNCHANGED, headers: ['ETag', 'Repr-Digest'] },
  ],
  refusals: READ_REFUSALS,
});

const intentSchema = operation({
  operationId: 'getIntent',
  tags: ['snapshots'],
  summary: 'Read the intent',
  description:
    'What the publication wrote first: canonical {"snapshot_id":"<id>"}. A package is whole without it, then this is ' +
    '`not_found`; where it is there, the Link of the manifest names it as related. Every byte of the snapshot was ' +
    'proven first.',
  params,
  headers,
  successes: [
    {
      status: 200,
      description: 'The exact bytes of the intent',
      headers: ['ETag', 'Repr-Digest'],
      content: {
        mediaType: 'application/json',
        schema: {
          type: 'object',
          properties: { snapshot_id: { type: 'string', pattern: '^[0-9a-f]{32}$' } },
          required: ['snapshot_id'],
        },
        examples: { first: { value: { snapshot_id: FIRST_ID } } },
      },
    },
    { status: 304, description: UNCHANGED, headers: ['ETag', 'Repr-Digest'] },
  ],
  refusals: READ_REFUSALS,
});

export function snapshotRoutes(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  const proven = (request: FastifyRequest, id: SnapshotId) =>
    transfers.reading(request.exchange, 'manifest', (signal) => store.readManifest(id, { signal }));
  const answerManifest = async (
    request: FastifyRequest<Params>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const id = snapshotIdOf(request.params.snapshot_id);
    request.exchange.outcome.snapshotId = id;
    const { manifest, manifestBytes, manifestSha256: sha256, hasIntent } = await proven(request, id);
    const headers = manifestHeaders(config.basePath, manifest, { sha256, hasIntent });
    return sendWhole(request, reply, headers, 'application/json', manifestBytes);
  };
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id',
    schema: snapshotSchema,
    handler: answerManifest,
  });
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/manifest.json',
    schema: manifestFileSchema,
    handler: answerManifest,
  });
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/complete.sha256',
    schema: markerSchema,
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.snapshot_id);
      request.exchange.outcome.snapshotId = id;
      const { manifestSha256 } = await proven(request, id);
      // The stored marker was just proven to be exactly these bytes.
      const marker = markerBytes(manifestSha256);
      return sendWhole(request, reply, fileHeaders(marker), 'text/plain; charset=us-ascii', marker);
    },
  });
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/intent.json',
    schema: intentSchema,
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.snapshot_id);
      request.exchange.outcome.snapshotId = id;
      const { hasIntent } = await proven(request, id);
      if (!hasIntent) throw noIntent(id);
      // The stored intent was just proven to be exactly these bytes (PW-07.04 step 2).
      const intent = intentBytes(id);
      return sendWhole(request, reply, fileHeaders(intent), 'application/json', intent);
    },
  });
}

function fileHeaders(bytes: Uint8Array): Record<string, string> {
  const digest = sha256Hex(bytes);
  return {
    etag: entityTag(digest),
    'repr-digest': reprDigest(digest),
    'cache-control': 'private, no-cache',
  };
}

function noIntent(id: string): SnapshotError<'not_found'> {
  return new SnapshotError(
    'not_found',
    `The package of snapshot ${id} holds no intent.json, and need not: it is whole without it. Mirror it without that file.`,
    {},
  );
}

/** Answers a small, whole representation: 200, 304 or 412; HEAD as GET without the bytes. */
function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Record<string, string>,
  mediaType: string,
  bytes: Uint8Array,
): FastifyReply {
  const etag = headers['etag'] ?? '';
  checkIfMatch(request.headers, etag);
  void reply.headers(headers);
  if (isNotModified(request.headers, etag)) return reply.code(304).send();
  void reply.header('content-type', mediaType).header('content-length', bytes.length);
  return request.method === 'HEAD' ? reply.send() : reply.send(Buffer.from(bytes));
}
