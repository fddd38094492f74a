/** GET and HEAD of one array, as raw bytes or as a `.npy` file, proven before the first byte leaves. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SnapshotError } from '../src/contract/errors.ts';
import { ARRAY_KEY_PATTERN, isArrayKey } from '../src/contract/ids.ts';
import { NPY_MEDIA_TYPE } from '../src/contract/npy.ts';
import { npyHeader } from '../src/contract/npy-header.ts';
import {
  checkIfMatch,
  entityTag,
  isNotModified,
  requestedRange,
  type ByteRange,
} from '../src/http/conditions.ts';
import { reprDigest, sha256OfBlocks, wantsReprDigest } from '../src/http/digests.ts';
import type { HeaderName } from '../src/http/openapi/headers.ts';
import {
  operation,
  READ_REFUSALS,
  UNCHANGED,
  type Operation,
  type Success,
} from '../src/http/openapi/operation.ts';
import { CONDITIONS, snapshotIdOf, snapshotIdParam, WANT_REPR_DIGEST } from '../src/http/parameters.ts';
import { downloadPaceOf, sendHijacked, type DownloadPace } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import type { StoredArray } from '../src/store/snapshot-store.ts';

const readArray = {
  tags: ['snapshots'],
  params: z.object({
    snapshot_id: snapshotIdParam,
    key: z.string().meta({
      description: 'Key of an array of the snapshot',
      pattern: ARRAY_KEY_PATTERN.source,
      examples: ['ids'],
    }),
  }),
  headers: z.object({
    ...CONDITIONS,
    Range: z
      .string()
      .optional()
      .meta({
        description:
          'One range of bytes; several, or other units, are answered with everything (RFC 9110, 14.2)',
        examples: ['bytes=0-7'],
      }),
    'If-Range': z
      .string()
      .optional()
      .describe('The entity tag of the bytes that the client has; everything is sent if it is another'),
    ...WANT_REPR_DIGEST,
  }),
  refusals: [...READ_REFUSALS, 'array_not_found', 'range_not_satisfiable'],
} as const;

const ARRAY_HEADERS: readonly HeaderName[] = [
  'ETag',
  'Array-Dtype',
  'Array-Count',
  'Array-Endianness',
  'Accept-Ranges',
  'Content-Disposition',
];

function successes(
  mediaType: string,
  given: Pick<Success, 'headers' | 'optionalHeaders'>,
): readonly Success[] {
  const content = { mediaType };
  const headers = given.headers ?? [];
  return [
    { ...given, status: 200, description: 'Every byte', content },
    { ...given, status: 206, description: 'The range', headers: [...headers, 'Content-Range'], content },
    { status: 304, description: UNCHANGED, headers },
  ];
}

type Form = 'bin' | 'npy';

const SCHEMAS: Readonly<Record<Form, Operation>> = {
  bin: operation({
    ...readArray,
    operationId: 'getArray',
    summary: 'Read an array as raw bytes',
    description:
      'Little-endian, exactly as stored. Marker, manifest, inventory, all sizes and the SHA-256 of this array are proven ' +
      'before the first byte leaves, also for a range; bytes that stop matching on the way break the connection.',
    successes: successes('application/octet-stream', { headers: [...ARRAY_HEADERS, 'Repr-Digest'] }),
  }),
  npy: operation({
    ...readArray,
    operationId: 'getArrayAsNpy',
    summary: 'Read an array as a .npy file',
    description:
      'The same bytes behind a header that numpy.load takes; the same proofs before the first byte.',
    successes: successes(NPY_MEDIA_TYPE, { headers: ARRAY_HEADERS, optionalHeaders: ['Repr-Digest'] }),
  }),
};

interface Params {
  Params: { snapshot_id: string; key: string };
}

export function arrayRoutes(app: FastifyInstance, { store, transfers, config }: ServiceContext): void {
  for (const form of ['bin', 'npy'] as const) {
    app.route<Params>({
      method: ['GET', 'HEAD'],
      url: `/snapshots/:snapshot_id/array-:key.${form}`,
      schema: SCHEMAS[form],
      handler: async (request, reply) => {
        const { snapshot_id, key } = request.params;
        const id = snapshotIdOf(snapshot_id);
        const file = `array-${key}.${form}`;
        if (!isArrayKey(key)) throw noSuchFile(file);
        request.exchange.outcome.snapshotId = id;
        const deliver = request.method === 'GET' || (form === 'npy' && wantsReprDigest(request.headers));
        const payload = await transfers.reading(request.exchange, 'array', (signal) =>
          store.openArray(id, key, { deliver, signal }),
        );
        try {
          // What is in memory already is counted where it is sent.
          if (deliver && payload.bytes === null) transfers.beginDownload(request.exchange);
          return await answer(
            request,
            reply,
            payload,
            representationOf(payload, form),
            downloadPaceOf(config),
          );
        } finally {
          await payload.close();
        }
      },
    });
  }
  app.route<{ Params: { snapshot_id: string; file: string } }>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:snapshot_id/:file',
    schema: { hide: true },
    handler: ({ params }) => {
      snapshotIdOf(params.snapshot_id);
      throw noSuchFile(params.file);
    },
  });
}

function noSuchFile(file: string): SnapshotError<'not_found'> {
  return new SnapshotError(
    'not_found',
    'A snapshot has manifest.json, complete.sha256, intent.json, package.tar, array-<key>.bin and array-<key>.npy; there ' +
      `is no ${JSON.stringify(file.slice(0, 80))}.`,
    {},
  );
}

/** The stored bytes, behind a header where the form has one. */
interface Representation {
  readonly prefix: Buffer;
  readonly byteLength: number;
  readonly etag: string;
  readonly mediaType: string;
  readonly fileName: string;
}

function representationOf({ entry, byteLength, key }: StoredArray, form: Form): Representation {
  const prefix = form === 'npy' ? npyHeader(entry.dtype, entry.count) : Buffer.alloc(0);
  return {
    prefix,
    byteLength: prefix.length + byteLength,
    etag: entityTag(entry.sha256, form === 'npy' ? '.npy' : ''),
    mediaType: form === 'npy' ? NPY_MEDIA_TYPE : 'application/octet-stream',
    fileName: `array-${key}.${form}`,
  };
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: StoredArray,
  representation: Representation,
  pace: DownloadPace,
): Promise<FastifyReply> {
  const { etag, byteLength } = representation;
  checkIfMatch(request.headers, etag);
  const unchanged = isNotModified(request.headers, etag);
  const ranged = request.method === 'GET' && !unchanged;
  // Before the answer is described as the array's: a refusal must not carry the array's headers.
  const range = ranged ? requestedRange(request.headers, etag, byteLength) : null;
  describe(reply, payload, representation);
  if (unchanged) return reply.code(304).send();
  const { prefix } = representation;
  if (prefix.length > 0 && wantsReprDigest(request.headers)) {
    void reply.header('repr-digest', reprDigest(await sha256OfBlocks(wholeOf(payload, prefix))));
  }
  void reply.header('content-type', representation.mediaType);
  const { start, end } = range ?? { start: 0, end: byteLength };
  if (range !== null) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${byteLength}`);
  void reply.header('content-length', end - start);
  if (request.method === 'HEAD') return reply.send();
  if (payload.bytes !== null) {
    return reply.send(Buffer.concat([prefix, payload.bytes]).subarray(start, end));
  }
  return sendHijacked(request, reply, blocksOf(payload, prefix, { start, end }), pace);
}

function wholeOf(payload: StoredArray, prefix: Buffer): AsyncIterable<Uint8Array> {
  return blocksOf(payload, prefix, { start: 0, end: prefix.length + payload.byteLength });
}

async function* blocksOf(
  payload: StoredArray,
  prefix: Buffer,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, void> {
  if (start < prefix.length) yield prefix.subarray(start, Math.min(end, prefix.length));
  if (end > prefix.length) yield* payload.blocks(Math.max(0, start - prefix.length), end - prefix.length);
}

function describe(reply: FastifyReply, { entry }: StoredArray, representation: Representation): void {
  void reply.headers({
    etag: representation.etag,
    'array-dtype': entry.dtype,
    'array-count': entry.count,
    'array-endianness': entry.endianness,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${representation.fileName}"`,
    'cache-control': 'private, no-cache',
    // Of these very bytes (RFC 9530): a .npy file has others than the stored payload, and hashing them is another pass
    // over the array, so that is done for those who ask.
    ...(representation.prefix.length === 0 ? { 'repr-digest': reprDigest(entry.sha256) } : {}),
  });
}
