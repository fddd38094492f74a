/** What the headers of a multipart body say: its boundary, and of each part its name, file name, form and length. */
import { SnapshotError } from '../contract/errors.ts';
import { quote } from '../contract/text.ts';

/** Of one part. */
const MAX_LINES = 64;
/** Of one header. */
const MAX_PARAMETERS = 64;

/** A token of RFC 9110, 5.6.2, as the source of a regular expression. */
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'sy');

interface HeaderParameter {
  /** Lower case. */
  readonly name: string;
  /** Without quotes; `\"` and `\\` are resolved, every other backslash stands for itself as in browsers. */
  readonly value: string;
  readonly quoted: boolean;
}

/**
 * Reads the parameters that follow the first word of a header value.
 * Returns undefined when anything is left over: a missing `=`, an open quote, text after a quote, blanks around `=`; and
 * for more than 64.
 * `text` starts at the first semicolon and carries no blanks at its end.
 */
function readHeaderParameters(text: string): HeaderParameter[] | undefined {
  const parameters: HeaderParameter[] = [];
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < text.length) {
    if (parameters.length === MAX_PARAMETERS) return undefined;
    const match = PARAMETER.exec(text);
    if (match === null) return undefined;
    const [, name = '', token, quoted = ''] = match;
    parameters.push({
      name: name.toLowerCase(),
      value: token ?? quoted.replace(/\\(["\\])/g, '$1'),
      quoted: token === undefined,
    });
  }
  return parameters;
}

/** The text without blanks (space, tab) at both ends; unlike `trim`, it leaves U+00A0 and other bytes alone. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, index: number): boolean {
  return text[index] === ' ' || text[index] === '\t';
}

const FORM_DATA = 'multipart/form-data';

// RFC 2046, 5.1.1: 1 to 70 characters of this set, the last of them not a space. The set holds neither a backslash
// nor a percent sign, so no way of unescaping a value that passes can read it as another boundary.
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * The boundary that a request's Content-Type declares: 1 to 70 characters.
 *
 * @throws SnapshotError `unsupported_media_type` when the media type is not multipart/form-data;
 *   `malformed_multipart` when the parameters cannot be read in one way only, or when there is not exactly one
 *   legal `boundary`.
 */
export function boundaryOf(contentType: string | undefined): string {
  const value = trimBlanks(contentType ?? '');
  const semicolon = value.indexOf(';');
  const mediaType = trimBlanks(semicolon === -1 ? value : value.slice(0, semicolon));
  if (mediaType.toLowerCase() !== FORM_DATA) {
    const actual = value === '' ? 'none' : quote(mediaType);
    throw new SnapshotError(
      'unsupported_media_type',
      `The Content-Type of the request is ${actual}; send a ${FORM_DATA} body with a boundary parameter.`,
      { expected: FORM_DATA },
    );
  }
  const parameters = semicolon === -1 ? [] : readHeaderParameters(value.slice(semicolon));
  if (parameters === undefined) {
    throw refused('has parameters that cannot be read as "; name=token" or "; name=<quoted string>"');
  }
  // `boundary*` is another spelling of the same parameter (RFC 8187), which parsers resolve differently.
  const spelled = parameters.filter(({ name }) => name.split('*')[0] === 'boundary');
  const [boundary] = spelled;
  if (boundary === undefined) throw refused('has no boundary parameter');
  if (spelled.length > 1) throw refused('names the boundary more than once');
  if (boundary.name !== 'boundary') throw refused('spells the boundary as an extended parameter');
  if (!BOUNDARY.test(boundary.value)) {
    throw refused(
      'has a boundary that is not 1 to 70 characters of RFC 2046, 5.1.1, ending in other than a space',
    );
  }
  return boundary.value;
}

function refused(what: string): SnapshotError {
  return new SnapshotError(
    'malformed_multipart',
    `The Content-Type of the request ${what}; let the HTTP client write it, or send ${FORM_DATA}; boundary=<token>.`,
    {},
  );
}

/** What the header block of one part declares. */
export interface PartHeaders {
  readonly name: string;
  /** As sent; undefined where the part has none. */
  readonly fileName: string | undefined;
  /** Lower case, without parameters; `text/plain` where the part has no Content-Type. */
  readonly mediaType: string;
  /** The declared payload bytes, where the part states them. */
  readonly contentLength: number | undefined;
}

const FIELD_NAME = new RegExp(`^${TOKEN}$`);
const EXTENDED_VALUE = /^[A-Za-z0-9-]+'[A-Za-z0-9-]*'[^']*$/;
/** Headers that a part may carry at most once, because a second one would contradict the first. */
const SINGLE = new Set([
  'content-disposition',
  'content-type',
  'content-transfer-encoding',
  'content-encoding',
  'content-length',
]);
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`);
/** Of parameters there may also be none between two semicolons, or after the last. */
const ANY_PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`, 'sy');
const UNENCODED = new Set(['7bit', '8bit', 'binary']);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the header lines of one part (without their CRLF, in order).
 *
 * @param where names the part in messages, for example `part 3`
 * @throws SnapshotError `malformed_multipart` for everything that form parsers drop, unfold, decode or read in more
 *   than one way: see the messages.
 */
function readPartHeaders(lines: readonly Buffer[], where: string): PartHeaders {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [name, value] = readFieldLine(line, where);
    if (fields.has(name) && SINGLE.has(name)) {
      throw malformedPart(where, `has more than one ${name} header`, 'send at most one');
    }
    fields.set(name, value);
  }
  refuseEncodings(fields.get('content-transfer-encoding'), fields.get('content-encoding'), where);
  return {
    ...readDisposition(fields.get('content-disposition'), where),
    mediaType: readMediaType(fields.get('content-type'), where),
    contentLength: readContentLength(fields.get('content-length'), where),
  };
}

/**
 * Type and subtype of a media type, with blanks and parameters wherever RFC 9110, 8.3.1 has them. What is read here in one
 * way only is never guessed at elsewhere: a part whose Content-Type is none is refused.
 */
function readMediaType(value: string | undefined, where: string): string {
  // RFC 7578, 4.4.
  if (value === undefined) return 'text/plain';
  const semicolon = value.indexOf(';');
  const type = trimBlanks(semicolon === -1 ? value : value.slice(0, semicolon));
  const parameters = semicolon === -1 ? '' : value.slice(semicolon);
  if (MEDIA_TYPE.test(type) && hasOnlyParameters(parameters)) return type.toLowerCase();
  throw malformedPart(
    where,
    `has the Content-Type ${quote(value)}, which is no media type`,
    'send one such as application/octet-stream, or leave that header out',
  );
}

function hasOnlyParameters(text: string): boolean {
  ANY_PARAMETER.lastIndex = 0;
  let end = 0;
  for (let count = 0; end < text.length && count < MAX_PARAMETERS; count += 1) {
    if (!ANY_PARAMETER.test(text)) return false;
    end = ANY_PARAMETER.lastIndex;
  }
  return end === text.length;
}

export function malformedPart(where: string, problem: string, remedy: string): SnapshotError {
  return new SnapshotError('malformed_multipart', `The body's ${where} ${problem}; ${remedy}.`, {});
}

function readFieldLine(line: Buffer, where: string): readonly [name: string, value: string] {
  // A tab is the only control character that a field value may hold.
  if (line.some((byte) => (byte < 0x20 && byte !== 0x09) || byte === 0x7f)) {
    throw malformedPart(
      where,
      'has a header line with a control character or a lone CR or LF',
      'end each header line with CR LF and keep it printable',
    );
  }
  const text = line.toString('latin1');
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0));
  if (!FIELD_NAME.test(name)) {
    throw malformedPart(
      where,
      'has a header line that is not "name: value"',
      'write one unfolded header per line',
    );
  }
  return [name.toLowerCase(), trimBlanks(text.slice(colon + 1))];
}

function refuseEncodings(transfer: string | undefined, content: string | undefined, where: string): void {
  const raw = 'send the raw bytes as binary; every byte of a part is payload';
  if (transfer !== undefined && !UNENCODED.has(transfer.toLowerCase())) {
    throw malformedPart(
      where,
      `has the Content-Transfer-Encoding ${quote(transfer)}, which is never decoded`,
      raw,
    );
  }
  if (content !== undefined && content.toLowerCase() !== 'identity') {
    throw malformedPart(where, `has the Content-Encoding ${quote(content)}, which is never decoded`, raw);
  }
}

function readDisposition(
  disposition: string | undefined,
  where: string,
): Pick<PartHeaders, 'name' | 'fileName'> {
  const remedy = 'send Content-Disposition: form-data; name="<name>"';
  if (disposition === undefined) throw malformedPart(where, 'has no Content-Disposition', remedy);
  const semicolon = disposition.indexOf(';');
  const kind = trimBlanks(semicolon === -1 ? disposition : disposition.slice(0, semicolon));
  if (kind.toLowerCase() !== 'form-data') {
    throw malformedPart(where, 'has a Content-Disposition other than form-data', remedy);
  }
  const parameters = semicolon === -1 ? [] : readHeaderParameters(disposition.slice(semicolon));
  if (parameters === undefined) {
    throw malformedPart(where, 'has a Content-Disposition whose parameters cannot be read', remedy);
  }
  const repeated = parameters.find(
    ({ name }, index) => parameters.findIndex((p) => p.name === name) !== index,
  );
  if (repeated !== undefined) {
    throw malformedPart(where, `has ${repeated.name} twice in its Content-Disposition`, remedy);
  }
  if (!parameters.every(isPlainOrFileName)) {
    throw malformedPart(where, 'has an extended or continued parameter in its Content-Disposition', remedy);
  }
  const name = parameters.find((parameter) => parameter.name === 'name')?.value;
  if (name === undefined) throw malformedPart(where, 'has no name in its Content-Disposition', remedy);
  const fileName = parameters.find((parameter) => parameter.name.startsWith('filename'))?.value;
  return { name: readableName(name, where), fileName };
}

/** RFC 7578, 4.2 forbids `filename*`, yet clients add it beside `filename`; no other extended spelling is harmless. */
function isPlainOrFileName({ name, value, quoted }: HeaderParameter): boolean {
  if (!name.includes('*')) return true;
  return name === 'filename*' && !quoted && EXTENDED_VALUE.test(value);
}

function readableName(latin1: string, where: string): string {
  let name: string;
  try {
    name = utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch (cause) {
    const message = `The body's ${where} has a name that is not UTF-8; array parts are named in ASCII.`;
    throw new SnapshotError('malformed_multipart', message, {}, { cause });
  }
  // The parser plugin drains parts with these names and reports them only after the whole body.
  if (name in Object.prototype) {
    const remedy = `for an array with that key name the part array-${name}.bin`;
    throw malformedPart(where, `is named "${name}", which form parsers refuse`, remedy);
  }
  return name;
}

function readContentLength(value: string | undefined, where: string): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) {
    throw malformedPart(
      where,
      'has a Content-Length that is not a decimal number',
      'leave it out or make it right',
    );
  }
  return Number(value);
}

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
    if (this.#lines.length === MAX_LINES && text.length > 0) {
      throw new SnapshotError(
        'limit_exceeded',
        `The body's ${where} has more than ${MAX_LINES} header lines; send fewer.`,
        { limit: 'part_header_lines', expected: String(MAX_LINES) },
      );
    }
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
