import { SnapshotError } from '../contract/errors.ts';
import { malformedPart, readPartHeaders, type PartHeaders } from './multipart-headers.ts';

const CR = 0x0d;
const LF = 0x0a;

interface BlockOptions {
  /** `--boundary`: a line that begins with it is a delimiter to every parser. */
  readonly dashBoundary: Buffer;
  /** For the whole block, its empty line included. */
  readonly maxBytes: number;
  /** Names the part in messages, for example `part 3`. */
  readonly where: string;
}

/** Collects the header lines of one part, up to and including the empty line that ends them. */
export class HeaderBlock {
  readonly #options: BlockOptions;
  #bytes = 0;
  /** The pieces of a line whose end has not come yet. */
  #line: Buffer[] = [];
  readonly #lines: Buffer[] = [];
  #headers: PartHeaders | undefined;

  constructor(options: BlockOptions) {
    this.#options = options;
  }

  /** What the block declares; undefined until its empty line has passed. */
  get headers(): PartHeaders | undefined {
    return this.#headers;
  }

  /**
   * Takes bytes from `at` to the end of the line or of the chunk; returns the index of the first byte it left.
   *
   * @throws SnapshotError `limit_exceeded` (`part_header_bytes`), or `malformed_multipart` as `readPartHeaders` does
   *   and for lines that end in a bare LF or are a delimiter.
   */
  push(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(LF, at);
    const end = newline === -1 ? chunk.length : newline + 1;
    const { maxBytes, where } = this.#options;
    this.#bytes += end - at;
    if (this.#bytes > maxBytes) {
      throw new SnapshotError(
        'limit_exceeded',
        `The headers of the body's ${where} exceed ${maxBytes} bytes; send fewer.`,
        { limit: 'part_header_bytes', expected: String(maxBytes) },
      );
    }
    this.#line.push(chunk.subarray(at, end));
    if (newline !== -1) this.#endLine();
    return end;
  }

  #endLine(): void {
    const { dashBoundary, where } = this.#options;
    // Always a copy, so that a chunk is not kept for as long as its block goes on.
    const line = Buffer.concat(this.#line);
    this.#line = [];
    if (line.at(-2) !== CR) {
      throw malformedPart(where, 'has a header line that ends in a bare LF', 'end header lines with CR LF');
    }
    const text = line.subarray(0, -2);
    if (text.subarray(0, dashBoundary.length).equals(dashBoundary)) throw unterminated(where);
    if (text.length > 0) this.#lines.push(text);
    else this.#headers = readPartHeaders(this.#lines, where);
  }
}

/** The refusal of a part whose headers are followed by a delimiter instead of an empty line and a payload. */
export function unterminated(where: string): SnapshotError {
  return malformedPart(
    where,
    'runs into the next delimiter before its payload',
    'end its headers with an empty line and put CR LF before each delimiter',
  );
}
