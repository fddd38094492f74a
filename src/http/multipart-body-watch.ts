import type { IncomingMessage } from 'node:http';
import { SnapshotError } from '../contract/errors.ts';
import type { MultipartFraming } from './multipart-framing.ts';

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
export class BodyWatch {
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
