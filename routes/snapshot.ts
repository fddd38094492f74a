/** GET and HEAD of one snapshot's manifest, marker and intent, after every byte of the snapshot was proven. */
import { intentBytes, markerBytes } from '../src/contract/package.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sha256Hex } from '../src/contract/digest.ts';
import { SnapshotError } from '../src/contract/errors.ts';
import { checkIfMatch, entityTag, isNotModified } from '../src/http/conditions.ts';
import { reprDigest } from '../src/http/digests.ts';
import { manifestHeaders } from '../src/http/manifest-headers.ts';
import { snapshotIdOf } from '../src/http/parameters.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

interface Params {
  Params: { id: string };
}

export function snapshotRoutes(app: FastifyInstance, { config, store }: ServiceContext): void {
  const manifest = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<FastifyReply> => {
    const id = snapshotIdOf(request.params.id);
    request.exchange.outcome.snapshotId = id;
    const proven = await store.readManifest(id, { signal: request.exchange.signal });
    const { manifestSha256: sha256, hasIntent } = proven;
    const headers = manifestHeaders(config.basePath, proven.manifest, { sha256, hasIntent });
    return sendWhole(request, reply, headers, 'application/json', proven.manifestBytes);
  };
  app.route<Params>({ method: ['GET', 'HEAD'], url: '/snapshots/:id', handler: manifest });
  app.route<Params>({ method: ['GET', 'HEAD'], url: '/snapshots/:id/manifest.json', handler: manifest });
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:id/complete.sha256',
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.id);
      request.exchange.outcome.snapshotId = id;
      const { manifestSha256 } = await store.readManifest(id, { signal: request.exchange.signal });
      // The stored marker was just proven to be exactly these bytes.
      const marker = markerBytes(manifestSha256);
      return sendWhole(request, reply, fileHeaders(marker), 'text/plain; charset=us-ascii', marker);
    },
  });
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:id/intent.json',
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.id);
      request.exchange.outcome.snapshotId = id;
      const { hasIntent } = await store.readManifest(id, { signal: request.exchange.signal });
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
