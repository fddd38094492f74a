/** GET and HEAD of a whole package as one archive, every byte proven before the first one leaves. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { checkIfMatch, entityTag, isNotModified } from '../src/http/conditions.ts';
import { operation, READ_REFUSALS, UNCHANGED } from '../src/http/openapi/operation.ts';
import { CONDITIONS, snapshotIdOf, snapshotIdParam } from '../src/http/parameters.ts';
import { downloadPaceOf, sendHijacked } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import { TAR_MEDIA_TYPE, tarBlocks, tarLength } from '../src/http/tar.ts';

const schema = operation({
  operationId: 'getPackage',
  tags: ['snapshots'],
  summary: 'Read the whole package as one archive',
  description:
    'A POSIX tar archive with the files of the package, byte for byte, in a directory named by the id. Every byte is ' +
    'proven before the first one leaves; one that stops matching on the way breaks the connection.',
  params: z.object({ snapshot_id: snapshotIdParam }),
  headers: z.object(CONDITIONS),
  successes: [
    {
      status: 200,
      description: 'The archive',
      headers: ['ETag', 'Accept-Ranges', 'Content-Disposition'],
      content: { mediaType: TAR_MEDIA_TYPE },
    },
    { status: 304, description: UNCHANGED, headers: ['ETag', 'Accept-Ranges'] },
  ],
  refusals: READ_REFUSALS,
});

export function packageTarRoute(app: FastifyInstance, { store, transfers, config }: ServiceContext): void {
  app.route<{ Params: { snapshot_id: string } }>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/package.tar',
    schema,
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.snapshot_id);
      const { exchange } = request;
      exchange.outcome.snapshotId = id;
      const { files, manifest, manifestSha256 } = await transfers.reading(exchange, 'manifest', (signal) =>
        store.openPackage(id, { signal }),
      );
      const etag = entityTag(manifestSha256, '.tar');
      checkIfMatch(request.headers, etag);
      void reply.headers({ etag, 'cache-control': 'private, no-cache', 'accept-ranges': 'none' });
      if (isNotModified(request.headers, etag)) return reply.code(304).send();
      void reply.headers({
        'content-type': TAR_MEDIA_TYPE,
        'content-length': tarLength(files),
        'content-disposition': `attachment; filename="${id}.tar"`,
      });
      if (request.method === 'HEAD') return reply.send();
      transfers.beginDownload(exchange);
      const mtimeSeconds = Number(BigInt(manifest.snapshot.finished_at_ns) / 1_000_000_000n);
      const blocks = tarBlocks(id, files, mtimeSeconds);
      return sendHijacked(request, reply, blocks, downloadPaceOf(config));
    },
  });
}
