/** GET and HEAD of one array, as raw bytes or as a `.npy` file, proven before the first byte leaves. */
import { arrayKeyOfFileName } from '../src/contract/package.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../src/contract/ids.ts';
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
import { snapshotIdOf } from '../src/http/parameters.ts';
import { downloadPaceOf, sendHijacked, type DownloadPace } from '../src/http/send.ts';
import type { ServiceContext } from '../src/http/service-context.ts';
import type { StoredPayload } from '../src/store/reading.ts';

interface Params {
  Params: { id: string; file: string };
}

export function arrayRoute(app: FastifyInstance, { store, transfers, config }: ServiceContext): void {
  app.route<Params>({
    method: ['GET', 'HEAD'],
    url: '/snapshots/:id/:file',
    handler: async (request, reply) => {
      const id = snapshotIdOf(request.params.id);
      const { key, form } = requestedFile(request.params.file);
      request.exchange.outcome.snapshotId = id;
      const deliver = request.method === 'GET' || (form === 'npy' && wantsReprDigest(request.headers));
      const payload = await store.openArray(id, key, { deliver, signal: request.exchange.signal });
      try {
        // What is in memory already is counted where it is sent.
        if (deliver && payload.bytes === null) transfers.beginDownload(request.exchange);
        return await answer(request, reply, payload, representationOf(payload, form), downloadPaceOf(config));
      } finally {
        await payload.close();
      }
    },
  });
}

type Form = 'bin' | 'npy';

const NPY_NAME = /^array-(?<key>.+)\.npy$/u;

function requestedFile(file: string): { key: ArrayKey; form: Form } {
  const key = arrayKeyOfFileName(file);
  if (key !== null) return { key, form: 'bin' };
  const npyKey = NPY_NAME.exec(file)?.groups?.['key'];
  if (isArrayKey(npyKey)) return { key: npyKey, form: 'npy' };
  throw new SnapshotError(
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

function representationOf({ entry, byteLength, key }: StoredPayload, form: Form): Representation {
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
  payload: StoredPayload,
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

function wholeOf(payload: StoredPayload, prefix: Buffer): AsyncIterable<Uint8Array> {
  return blocksOf(payload, prefix, { start: 0, end: prefix.length + payload.byteLength });
}

async function* blocksOf(
  payload: StoredPayload,
  prefix: Buffer,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, void> {
  if (start < prefix.length) yield prefix.subarray(start, Math.min(end, prefix.length));
  if (end > prefix.length) yield* payload.blocks(Math.max(0, start - prefix.length), end - prefix.length);
}

function describe(reply: FastifyReply, { entry }: StoredPayload, representation: Representation): void {
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
