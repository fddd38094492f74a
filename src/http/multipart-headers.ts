import { SnapshotError } from '../contract/errors.ts';
import {
  quoteSent,
  readHeaderParameters,
  TOKEN,
  trimBlanks,
  type HeaderParameter,
} from './header-parameters.ts';

/** What the header block of one part declares. */
export interface PartHeaders {
  readonly name: string;
  /** As sent, parameters included; undefined when the part has none. */
  readonly contentType: string | undefined;
  /** The declared payload bytes, where the part states them. */
  readonly contentLength: number | undefined;
}

const FIELD_NAME = new RegExp(`^${TOKEN}$`);
const EXTENDED_VALUE = /^[A-Za-z0-9-]+'[A-Za-z0-9-]*'[^']*$/;
/** Headers that a part may carry at most once, because a second one would contradict the first. */
const SINGLE = [
  'content-disposition',
  'content-type',
  'content-transfer-encoding',
  'content-encoding',
  'content-length',
] as const;
const UNENCODED = new Set(['7bit', '8bit', 'binary']);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the header lines of one part (without their CRLF, in order).
 *
 * @param where names the part in messages, for example `part 3`
 * @throws SnapshotError `malformed_multipart` for everything that form parsers drop, unfold, decode or read in more
 *   than one way: see the messages.
 */
export function readPartHeaders(lines: readonly Buffer[], where: string): PartHeaders {
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    const [name, value] = readFieldLine(line, where);
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  for (const name of SINGLE) {
    const count = fields.get(name)?.length ?? 0;
    if (count > 1) throw malformedPart(where, `has ${count} ${name} headers`, 'send at most one');
  }
  const single = (name: (typeof SINGLE)[number]): string | undefined => fields.get(name)?.[0];
  refuseEncodings(single('content-transfer-encoding'), single('content-encoding'), where);
  return {
    name: readName(single('content-disposition'), where),
    contentType: single('content-type'),
    contentLength: readContentLength(single('content-length'), where),
  };
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
      `has the Content-Transfer-Encoding ${quoteSent(transfer)}, which is never decoded`,
      raw,
    );
  }
  if (content !== undefined && content.toLowerCase() !== 'identity') {
    throw malformedPart(where, `has the Content-Encoding ${quoteSent(content)}, which is never decoded`, raw);
  }
}

function readName(disposition: string | undefined, where: string): string {
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
  return readableName(name, where);
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
