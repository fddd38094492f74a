import { SnapshotError } from '../contract/errors.ts';
import { quote } from '../contract/text.ts';
import { HeaderBlock, malformedPart, unterminated, type PartHeaders } from './multipart-headers.ts';

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** The largest header block of one part, terminator included, unless the caller says otherwise. */
const DEFAULT_MAX_PART_HEADER_BYTES = 16 * 1024;

/** One part as the bytes of the body declare it. */
export interface FramedPart extends Omit<PartHeaders, 'contentLength'> {
  /** Payload bytes seen so far; bytes that may still turn out to begin a delimiter are not counted yet. */
  readonly byteLength: number;
  /** Whether the delimiter that ends the payload has been seen. */
  readonly complete: boolean;
}

type State = 'start' | 'delimiter' | 'headers' | 'payload' | 'epilogue';
type OpenPart = { -readonly [K in keyof FramedPart]: FramedPart[K] } & Pick<PartHeaders, 'contentLength'>;

/**
 * Observes the raw bytes of a multipart/form-data body (RFC 7578 over RFC 2046, 5.1.1), in order and in pieces of any
 * size, and refuses the first byte sequence that form parsers skip, drop or read in different ways. The parser that
 * delivers the parts is another one; what both saw is compared by `readParts`.
 *
 * Grammar: an optional CRLF, `--boundary`, then for each part CRLF, header lines, an empty line, payload and
 * CRLF `--boundary`; finally `--` and an optional CRLF. No preamble, no padding, no epilogue.
 *
 * It copies no payload: a carriage return can only begin the delimiter, so what is held back between two chunks is
 * always the first `held` bytes of the delimiter itself and a count suffices.
 */
export class MultipartFraming {
  readonly #delimiter: Buffer;
  readonly #maxPartHeaderBytes: number;
  readonly #parts: OpenPart[] = [];
  #state: State = 'start';
  #failure: SnapshotError | undefined;
  /** Bytes of the body before the chunk at hand. */
  #passed = 0;
  /** In `start` and `payload`: bytes of the delimiter matched by what came last. */
  #held = 0;
  /** How many of the held bytes end the header block and are therefore no payload. */
  #heldHeader = 0;
  /** In `delimiter`: the first byte after `--boundary`, once seen. */
  #first: number | undefined;
  #block: HeaderBlock | undefined;
  #epilogueBytes = 0;

  constructor(boundary: string, options: { readonly maxPartHeaderBytes?: number | undefined } = {}) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#maxPartHeaderBytes = options.maxPartHeaderBytes ?? DEFAULT_MAX_PART_HEADER_BYTES;
  }

  /** The parts whose headers have passed, in order; the entries are live. */
  get parts(): readonly FramedPart[] {
    return this.#parts;
  }

  /**
   * Takes the next bytes of the body.
   *
   * @throws SnapshotError `malformed_multipart`, or `limit_exceeded` (`part_header_bytes`), on the first violation
   *   and again on every later call.
   */
  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      let at = 0;
      while (at < chunk.length) at = this.#step(chunk, at);
      this.#passed += chunk.length;
    } catch (error) {
      if (error instanceof SnapshotError) this.#failure = error;
      throw error;
    }
  }

  /** Takes the end of the body. @throws SnapshotError `malformed_multipart` unless the close delimiter has passed. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#state === 'epilogue' && this.#epilogueBytes !== 1) return;
    const last = this.#parts.at(-1);
    const where = last === undefined ? '' : `, in or after part ${this.#parts.length} (${quote(last.name)})`;
    throw new SnapshotError(
      'malformed_multipart',
      this.#passed === 0
        ? 'The request body is empty; send at least the metadata part and the close delimiter.'
        : `The multipart body is cut short after ${this.#passed} bytes${where}: no close delimiter; send it again whole.`,
      {},
    );
  }

  /** Handles bytes from `at` on in the current state; returns the index of the first byte it left. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'start':
        return this.#start(chunk, at);
      case 'delimiter':
        return this.#afterDelimiter(chunk, at);
      case 'headers':
        return this.#header(chunk, at);
      case 'payload':
        return this.#payload(chunk, at);
      case 'epilogue':
        return this.#epilogue(chunk, at);
    }
  }

  #start(chunk: Buffer, at: number): number {
    // The CRLF before the first delimiter is implied and may be written out.
    if (this.#passed + at === 0 && chunk[at] === DASH) this.#held = 2;
    const length = Math.min(this.#delimiter.length - this.#held, chunk.length - at);
    if (!this.#continuesDelimiter(chunk, at, length)) {
      const expected = this.#delimiter.toString('latin1').slice(2);
      throw malformed(
        `The multipart body does not start with its delimiter "${expected}"; ` +
          'send no preamble and declare the boundary that the body uses.',
      );
    }
    this.#held += length;
    if (this.#held === this.#delimiter.length) this.#enterDelimiter();
    return at + length;
  }

  #afterDelimiter(chunk: Buffer, at: number): number {
    const byte = chunk[at];
    if (this.#first === undefined && (byte === CR || byte === DASH)) {
      this.#first = byte;
    } else if (this.#first === CR && byte === LF) {
      this.#state = 'headers';
    } else if (this.#first === DASH && byte === DASH) {
      this.#state = 'epilogue';
    } else {
      throw malformed(
        `The delimiter before byte ${this.#passed + at} of the body is followed by neither CR LF nor "--". ` +
          'Write no padding after it; if it belongs to a payload, choose a boundary that no payload contains.',
      );
    }
    return at + 1;
  }

  #header(chunk: Buffer, at: number): number {
    this.#block ??= new HeaderBlock({
      dashBoundary: this.#delimiter.subarray(2),
      maxBytes: this.#maxPartHeaderBytes,
      where: `part ${this.#parts.length + 1}`,
    });
    const end = this.#block.push(chunk, at);
    const { headers } = this.#block;
    if (headers !== undefined) {
      this.#block = undefined;
      this.#parts.push({ ...headers, byteLength: 0, complete: false });
      // The parser looks for delimiters from the empty line's own CRLF on.
      this.#held = 2;
      this.#heldHeader = 2;
      this.#state = 'payload';
    }
    return end;
  }

  #payload(chunk: Buffer, at: number): number {
    const part = this.#parts.at(-1);
    if (part === undefined) throw new Error('Payload without a part.');
    const delimiter = this.#delimiter;
    if (this.#held > 0) {
      const length = Math.min(delimiter.length - this.#held, chunk.length - at);
      if (this.#continuesDelimiter(chunk, at, length)) {
        this.#held += length;
        if (this.#held === delimiter.length) this.#endPart(part);
        return at + length;
      }
      part.byteLength += this.#held - this.#heldHeader;
      this.#held = 0;
      this.#heldHeader = 0;
    }
    const found = chunk.indexOf(delimiter, at);
    if (found !== -1) {
      part.byteLength += found - at;
      this.#endPart(part);
      return found + delimiter.length;
    }
    // Only a carriage return begins a delimiter, so only the last one near the end can matter.
    const tail = Math.max(at, chunk.length - delimiter.length + 1);
    const carriageReturn = chunk.subarray(tail).lastIndexOf(CR);
    const kept = carriageReturn === -1 ? chunk.length : tail + carriageReturn;
    if (this.#continuesDelimiter(chunk, kept, chunk.length - kept)) this.#held = chunk.length - kept;
    part.byteLength += chunk.length - this.#held - at;
    return chunk.length;
  }

  #endPart(part: OpenPart): void {
    if (this.#heldHeader > 0) throw unterminated(`part ${this.#parts.length}`);
    if (part.contentLength !== undefined && part.contentLength !== part.byteLength) {
      throw malformedPart(
        `part ${this.#parts.length} (${quote(part.name)})`,
        `has ${part.byteLength} bytes of payload but a Content-Length of ${part.contentLength}`,
        'send the payload whole, or leave that header out',
      );
    }
    part.complete = true;
    this.#enterDelimiter();
  }

  #epilogue(chunk: Buffer, at: number): number {
    if (chunk[at] !== (this.#epilogueBytes === 0 ? CR : LF) || this.#epilogueBytes === 2) {
      throw malformed(
        `The multipart body goes on after its close delimiter, at byte ${this.#passed + at}; ` +
          'send all parts before it and at most one CR LF after it.',
      );
    }
    this.#epilogueBytes += 1;
    return at + 1;
  }

  #enterDelimiter(): void {
    this.#state = 'delimiter';
    this.#first = undefined;
    this.#held = 0;
  }

  /** Whether `length` bytes from `at` on are what follows the held part of the delimiter. */
  #continuesDelimiter(chunk: Buffer, at: number, length: number): boolean {
    return this.#delimiter.compare(chunk, at, at + length, this.#held, this.#held + length) === 0;
  }
}

function malformed(message: string): SnapshotError {
  return new SnapshotError('malformed_multipart', message, {});
}
