/** GET and HEAD of one array's exact bytes, proven before the first of them leaves (CONTRACT, section 3). */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import { arrayKeyOfFileName } from '../src/contract/ids.ts';
import { checkIfMatch, entityTag, isNotModified, reprDigest, requestedRange } from '../src/http/conditions.ts';
import { snapshotIdOf } from '../src/http/parameters.ts';
import { sendBlocks } from '../src/http/send-payload.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import type { StoredPayload } from '../src/store/stored-payload.ts';

interface Params {
  Params: { id: string; file: string };
}

export function arrayRoute(app: FastifyInstance, context: ServiceContext): void {
  const { store, transfers, config } = context;
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:id/:file',
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.id);
      const key = arrayKeyOfFileName(request.params.file);
      if (key === null) throw noSuchFile(request.params.file);
      request.outcome.snapshotId = id;
      const payload = await store.openArray(id, key, { deliver: request.method === 'GET' });
      const done = transfers.beginDownload();
      try {
        const etag = entityTag(payload.entry.sha256);
        checkIfMatch(request.headers, etag);
        describe(reply, payload, etag);
        if (isNotModified(request.headers, etag)) return await reply.code(304).send();
        void reply.header('content-type', 'application/octet-stream');
        const range = request.method === 'GET' ? requestedRange(request.headers, etag, payload.byteLength) : null;
        const { start, end } = range ?? { start: 0, end: payload.byteLength };
        if (range !== null) {
          void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${payload.byteLength}`);
        }
        void reply.header('content-length', end - start);
        if (request.method === 'HEAD') return await reply.send();
        if (payload.bytes !== null) return await reply.send(Buffer.from(payload.bytes.subarray(start, end)));
        reply.hijack();
        reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
        await sendBlocks(reply.raw, payload.blocks(start, end), config.idleSeconds * 1000).catch((error: unknown) => {
          request.log.warn({ err: error }, 'a download was broken off');
        });
        return reply;
      } finally {
        done();
        await payload.close();
      }
    },
  });
}

function describe(reply: FastifyReply, { entry }: StoredPayload, etag: string): void {
  void reply.headers({
    etag,
    'repr-digest': reprDigest(entry.sha256),
    'array-dtype': entry.dtype,
    'array-count': entry.count,
    'array-endianness': entry.endianness,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${entry.file}"`,
    'cache-control': 'private, no-cache',
  });
}

function noSuchFile(file: string): SnapshotError<'not_found'> {
  return new SnapshotError(
    'not_found',
    `A snapshot has manifest.json, complete.sha256 and array-<key>.bin; there is no ${JSON.stringify(file.slice(0, 80))}.`,
    {},
  );
}
