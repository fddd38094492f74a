import type { FastifyRequest } from 'fastify';
// For the type of `request.parts`, which the plugin adds to Fastify's request.
import type {} from '@fastify/multipart';
import type { Readable } from 'node:stream';
import { SnapshotError } from '../contract/errors.ts';
import { quoteSent } from './header-parameters.ts';
import { BodyWatch } from './multipart-body-watch.ts';
import { boundaryOf } from './multipart-boundary.ts';
import { MultipartFraming, type FramedPart } from './multipart-framing.ts';

/** One part of an upload. Every byte of `chunks` is payload, exactly as sent. */
export interface IncomingPart {
  readonly name: string;
  /** Lower case, without parameters; `text/plain` where the part has no Content-Type (RFC 7578, 4.4). */
  readonly mediaType: string;
  /** To be read once and to its end before the next part is asked for. */
  readonly chunks: AsyncIterable<Buffer>;
}

export interface ReadPartsOptions {
  /** The largest header block of one part in bytes; 16 KiB unless given. */
  readonly maxPartHeaderBytes?: number | undefined;
  /** Told the size of every piece of the raw body before anything is done with it; what it throws ends the reading. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Shown every piece of the raw body, not to be kept or changed; what it throws ends the reading. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
  /** Ends the reading at any point; its `reason` is what the iteration throws. */
  readonly signal?: AbortSignal | undefined;
}

// The plugin's own limits cut, skip or count silently or late; the framing bounds headers and the caller bounds
// parts and payloads, so nothing of the parser's may come first.
const NO_LIMIT = {
  fileSize: Infinity,
  files: Infinity,
  parts: Infinity,
  headerPairs: Infinity,
  headerSize: Infinity,
};

/**
 * Reads the parts of a multipart/form-data request, one at a time and without buffering them: the request is read as
 * fast as `chunks` are. Two independent readers see the body, the parser that delivers it and `MultipartFraming`; a
 * part counts as read only when both agree on its name, order and length, and the body only when both saw its end.
 *
 * However the iteration ends (also by `return()`), the request is left without listeners and without a pipe; if bytes
 * are still to come it is paused, and draining it is up to the caller.
 *
 * @throws SnapshotError `unsupported_media_type` or `malformed_multipart` for a body whose parts would not all arrive
 *   as declared, or that is cut short, also by a client that goes away (its error is the cause); `limit_exceeded`
 *   (`part_header_bytes`); or `signal.reason`. The error comes from whichever wait is pending, a part or a chunk.
 * @throws Error when the next part is asked for before `chunks` of the current one was read to its end.
 */
export async function* readParts(
  request: FastifyRequest,
  options: ReadPartsOptions = {},
): AsyncGenerator<IncomingPart, void, undefined> {
  const body = request.raw;
  const framing = new MultipartFraming(declaredBoundary(request), options);
  const watch = new BodyWatch(body, framing, options);
  let file: Readable | undefined;
  try {
    // Every part as a file: the plugin decodes and parses what it takes for a field.
    const parser = request.parts({ isPartAFile: () => true, preservePath: true, limits: NO_LIMIT });
    let count = 0;
    for (;;) {
      const next = await watch.until(parser.next());
      if (next.done === true) break;
      const part = next.value;
      const seen = framing.parts[count];
      count += 1;
      if (part.type !== 'file' || part.fieldname !== seen?.name) throw disagreement(count);
      file = part.file;
      const reading = { finished: false };
      yield {
        name: part.fieldname,
        mediaType: part.mimetype,
        chunks: readChunks(file, seen, count, watch, reading),
      };
      if (!reading.finished) {
        throw new Error(
          `Part ${count} (${quoteSent(seen.name)}) must be read to its end before the next one is asked for.`,
        );
      }
    }
    // The parser is done at the close delimiter and stops the flow there; what follows is for the framing to judge.
    await watch.end();
    if (framing.parts.length !== count) throw disagreement(count + 1);
  } finally {
    watch.stop();
    file?.destroy();
  }
}

async function* readChunks(
  file: Readable,
  seen: FramedPart,
  position: number,
  watch: BodyWatch,
  reading: { finished: boolean },
): AsyncGenerator<Buffer, void, undefined> {
  const source = file[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let delivered = 0;
  for (;;) {
    const next = await watch.until(source.next());
    if (next.done === true) break;
    delivered += next.value.length;
    yield next.value;
  }
  if (!seen.complete || delivered !== seen.byteLength) throw disagreement(position);
  reading.finished = true;
}

function declaredBoundary(request: FastifyRequest): string {
  // Node keeps the first of several Content-Type headers and drops the others without a word.
  const declared = request.raw.headersDistinct['content-type'] ?? [];
  if (declared.length > 1) {
    throw new SnapshotError(
      'malformed_multipart',
      `The request has ${declared.length} Content-Type headers; send exactly one.`,
      {},
    );
  }
  return boundaryOf(declared[0]);
}

function disagreement(position: number): SnapshotError {
  return new SnapshotError(
    'malformed_multipart',
    `Part ${position} of the multipart body cannot be read in one way only; ` +
      'send plain "Content-Disposition: form-data; name=..." headers and the raw payload.',
    {},
  );
}
