/** POST /snapshots: multipart parts become one publication (CONTRACT, section 3). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import type { Manifest } from '../src/contract/manifest.ts';
import { checkNoMatch } from '../src/http/conditions.ts';
import { contentDigestOf, type ContentDigest } from '../src/http/digests.ts';
import { incomingArrays, readParts, type IncomingPart } from '../src/http/multipart.ts';
import { boundaryOf } from '../src/http/multipart-headers.ts';
import { watchPace } from '../src/http/request-body.ts';
import { manifestHeaders } from '../src/http/manifest-headers.ts';
import { checkIsNoFileName, FileNamesSent } from '../src/http/forgotten-at.ts';
import { checkContentEncoding } from '../src/http/guards.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

/** From here on it is asked whether there is room for a body before it is asked for; for less the publication asks. */
const MUCH_BYTES = 1024 * 1024;
/** A sender's pace is judged over so long a time. */
const PACE_WINDOW_MS = 30_000;

export function publishRoute(app: FastifyInstance, { config, store, transfers }: ServiceContext): void {
  app.route({
    method: 'POST',
    url: '/snapshots',
    handler: async (request, reply) => {
      if (config.readOnly) throw readOnly();
      refuseByHeaders(request, config);
      const digest = contentDigestOf(request.headers);
      const { exchange } = request;
      const done = transfers.beginUpload();
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
