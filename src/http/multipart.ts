/** Reads an upload: the parts of its body, each seen by two independent readers, and the payloads that they are. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
// For the type of `request.parts`, which the plugin adds to Fastify's request.
import type {} from '@fastify/multipart';
import { SnapshotError } from '../contract/errors.ts';
import { isArrayKey } from '../contract/ids.ts';
import { arrayKeyOfFileName } from '../contract/package.ts';
import { NPY_MEDIA_TYPE, readNpy } from '../contract/npy.ts';
import { quote } from '../contract/text.ts';
import type { IncomingPayload } from '../store/arrivals.ts';
import { MultipartFraming, type FramedPart } from './multipart-framing.ts';
import { boundaryOf } from './multipart-headers.ts';

/** One part of an upload. Every byte of `chunks` is payload, exactly as sent. */
export interface IncomingPart {
  readonly name: string;
  /** As sent; undefined where the part has none. */
  readonly fileName: string | undefined;
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
        fileName: seen.fileName,
        mediaType: seen.mediaType,
        chunks: readChunks(file, seen, count, watch, reading),
      };
      if (!reading.finished) {
        throw new Error(
          `Part ${count} (${quote(seen.name)}) must be read to its end before the next one is asked for.`,
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

interface WatchOptions {
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Shows every chunk of a request body to the framing before the parser gets it, and lets no wait outlast the body:
 * the first violation, abort, error or premature close settles whatever is pending in `until`.
 *
 * To be built in the same turn in which the parser is piped: a `data` listener starts the flow in the next one. The
 * listener adds no buffering; the pipe's own pauses still stop the flow.
 */
class BodyWatch {
  readonly #body: IncomingMessage;
  readonly #framing: MultipartFraming;
  readonly #options: WatchOptions;
  // Not one shared promise to race against: each race would leave a reaction on it for the length of the upload.
  readonly #waiting = new Set<(failure: unknown) => void>();
  #failure: { readonly error: unknown } | undefined;
  #bytes = 0;
  #ended = false;
  #onEnded: (() => void) | undefined;

  constructor(body: IncomingMessage, framing: MultipartFraming, options: WatchOptions) {
    this.#body = body;
    this.#framing = framing;
    this.#options = options;
    body.on('data', this.#onData);
    body.on('end', this.#onEnd);
    // An abort comes as 'error' (ECONNRESET) and then 'close'; every other loss at least as 'close'.
    body.on('error', this.#onCut);
    body.on('close', this.#onCut);
    options.signal?.addEventListener('abort', this.#onAbort);
    if (options.signal?.aborted === true) this.#onAbort();
    else if (body.destroyed || body.readableEnded) this.#onCut();
  }

  /**
   * Resolves as `step` does while the body is sound; rejects with its failure as soon as there is one, also when
   * `step` never settles. What `step` itself rejects with is the parser's view of a broken body.
   */
  until<T>(step: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (deliver: () => void): void => {
        this.#waiting.delete(reject);
        if (this.#failure === undefined) deliver();
        else reject(asError(this.#failure.error));
      };
      this.#waiting.add(reject);
      step.then(
        (value) => {
          settle(() => {
            resolve(value);
          });
        },
        (cause: unknown) => {
          settle(() => {
            reject(parserFailure(cause));
          });
        },
      );
      if (this.#failure !== undefined) settle(() => undefined);
    });
  }

  /** Resolves when the body has ended in order; lets it flow to its end, past what the parser reads. */
  end(): Promise<void> {
    return this.until(
      new Promise<void>((resolve) => {
        if (this.#ended) {
          resolve();
          return;
        }
        this.#onEnded = resolve;
        this.#body.resume();
      }),
    );
  }

  /** Takes all listeners and the pipe off the body and leaves it paused unless it has ended. Idempotent. */
  stop(): void {
    this.#body.off('data', this.#onData);
    this.#body.off('end', this.#onEnd);
    this.#body.off('error', this.#onCut);
    this.#body.off('close', this.#onCut);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#body.unpipe();
    if (!this.#ended) this.#body.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#attempt(() => {
      this.#options.onBytes?.(chunk.length);
      this.#options.onChunk?.(chunk);
      this.#framing.push(chunk);
    });
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#attempt(() => {
      this.#framing.end();
    });
    this.#onEnded?.();
  };

  readonly #onCut = (cause?: unknown): void => {
    if (!this.#ended) this.#fail(cutShort(this.#bytes, cause));
  };

  readonly #onAbort = (): void => {
    this.#fail(this.#options.signal?.reason);
  };

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.stop();
    for (const reject of this.#waiting) reject(asError(error));
    this.#waiting.clear();
  }
}

function cutShort(bytes: number, cause: unknown): SnapshotError {
  return new SnapshotError(
    'malformed_multipart',
    `The request body is cut short: the connection was lost after ${bytes} bytes; send the request again.`,
    {},
    { cause },
  );
}

function parserFailure(cause: unknown): SnapshotError {
  return new SnapshotError(
    'malformed_multipart',
    'The multipart body cannot be parsed to its end; check that it is complete and built by a multipart library.',
    {},
    { cause },
  );
}

/** An abort reason may be any value; what is thrown is always an error. */
function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The reading was aborted.', { cause: reason });
}

const NPY_NAME = /^array-(?<key>[a-z][a-z0-9_]{0,63})\.npy$/u;
const NPY_FILE = /\.npy$/iu;

/**
 * From parts to payloads: raw bytes as they are, `.npy` files by what their header says. A part is one if its media type or
 * its name says so, and then must be one: its header would be stored as if it were elements. Its name may be the key, or
 * the file name of either form.
 */
export async function* incomingArrays(
  parts: AsyncIterable<IncomingPart>,
): AsyncGenerator<IncomingPayload, void, void> {
  for await (const { name, fileName, mediaType, chunks } of parts) {
    const npyKey = NPY_NAME.exec(name)?.groups?.['key'];
    const isNpy = npyKey !== undefined || mediaType === NPY_MEDIA_TYPE || NPY_FILE.test(fileName ?? '');
    if (!isNpy) {
      yield { name, chunks };
      continue;
    }
    const plainName = npyKey ?? name;
    const key = isArrayKey(plainName) ? plainName : arrayKeyOfFileName(plainName);
    const npy = await readNpy(chunks, key === null ? 'arrays' : `arrays.${key}`);
    yield { name: plainName, chunks: npy.chunks, dtype: npy.dtype };
  }
}
