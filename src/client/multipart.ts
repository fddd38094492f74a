/** The body of a publication as a stream: metadata first, then one part per array (CONTRACT section 3). */
import { payloadFileName } from '../contract/package.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { ArrayKey } from '../contract/ids.ts';
import { canonicalText } from '../contract/canonical-json.ts';
import type { DraftManifest, SeenPayload } from '../contract/manifest.ts';
import { NPY_MEDIA_TYPE } from '../contract/npy.ts';
import { checkedBlocks, type ArraySource } from './sources.ts';

export interface MultipartBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  /** What became of it; read it once the request has ended. */
  readonly sent: SentBody;
}

export interface SentBody {
  /** Bytes were taken from a source. */
  started: boolean;
  /** The last byte was handed to the connection: only then can the service have the whole snapshot. */
  complete: boolean;
  /** By key, of the arrays sent so far that were not known before. */
  readonly seen: Record<ArrayKey, SeenPayload>;
}

/**
 * Each call makes a body for one request. What is `known` of payloads is declared in the draft and not hashed again;
 * `onBlock` hears the bytes of every piece of payload.
 */
export function multipartBody(
  draft: DraftManifest,
  sources: readonly ArraySource[],
  known: Readonly<Record<ArrayKey, SeenPayload>>,
  onBlock: (bytes: number) => void,
): MultipartBody {
  // 192 random bits do not occur in a payload.
  const boundary = `pipewhy-${randomBytes(24).toString('hex')}`;
  const metadata = Buffer.from(canonicalText(draft));
  const metadataHead = partHead(boundary, 'metadata', 'application/json');
  const heads = sources.map(({ key, npyHeader }) =>
    npyHeader === undefined
      ? partHead(boundary, payloadFileName(key), 'application/octet-stream')
      : Buffer.concat([partHead(boundary, payloadFileName(key), NPY_MEDIA_TYPE), npyHeader]),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const frame = [metadataHead, metadata, ...heads, tail].reduce((sum, { length }) => sum + length, 0);
  const payload = sources.reduce<number | null>(
    (sum, { byteLength }) => (sum === null || byteLength === null ? null : sum + byteLength),
    0,
  );
  const sent: SentBody = {
    started: false,
    complete: false,
    seen: Object.create(null) as Record<ArrayKey, SeenPayload>,
  };

  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    yield metadataHead;
    yield metadata;
    for (const [index, source] of sources.entries()) {
      yield heads[index] as Buffer;
      const hash = known[source.key] === undefined ? createHash('sha256') : null;
      let byteLength = 0;
      sent.started = true;
      for await (const block of checkedBlocks(source)) {
        hash?.update(block);
        byteLength += block.length;
        yield block;
        onBlock(block.length);
      }
      if (hash !== null) sent.seen[source.key] = { byteLength, sha256: hash.digest('hex') };
    }
    sent.complete = true;
    yield tail;
  }

  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(payload === null ? {} : { 'content-length': String(frame + payload) }),
    },
    body: body(),
    sent,
  };
}

function partHead(boundary: string, name: string, type: string): Buffer {
  const start = name === 'metadata' ? '' : '\r\n';
  return Buffer.from(
    `${start}--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
  );
}
