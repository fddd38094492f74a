import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { SnapshotError } from '../../src/contract/errors.ts';
import { readParts, type ReadPartsOptions } from '../../src/http/multipart.ts';

export const BOUNDARY = 'frontier';

/** What one upload came to: the parts that were read whole, and the error that ended the reading. */
export interface Outcome {
  readonly parts: { readonly name: string; readonly mediaType: string; readonly bytes: Buffer }[];
  readonly error: unknown;
}

export type Reader = (request: FastifyRequest) => Promise<Outcome>;

/** Reads all parts of a request with `readParts`; never rejects. */
export function reading(options: ReadPartsOptions = {}): Reader {
  return async (request) => {
    const parts: Outcome['parts'] = [];
    try {
      for await (const part of readParts(request, options)) {
        // The pieces are kept as they come: a parser that reused their memory would show.
        const pieces: Buffer[] = [];
        for await (const piece of part.chunks) pieces.push(piece);
        parts.push({ name: part.name, mediaType: part.mediaType, bytes: Buffer.concat(pieces) });
      }
      return { parts, error: undefined };
    } catch (error) {
      return { parts, error };
    }
  };
}

export interface UploadServer {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly close: () => Promise<void>;
  /** How the reader answers from now on. */
  reader: Reader;
  /** Sends raw bytes as a request of their declared or given length; resolves with what the reader made of them. */
  readonly upload: (body: Buffer, how?: Upload) => Promise<Outcome>;
}

export interface Upload {
  /** Undefined sends no Content-Type at all. */
  readonly contentType?: string | undefined;
  /** Sizes of the pieces in which the body is written, repeated; the whole body in one piece unless given. */
  readonly pieces?: readonly number[];
  /** What Content-Length promises; the body's own length unless given. */
  readonly promised?: number;
  /** Close the connection as soon as the body is written. */
  readonly hangUp?: 'end' | 'reset';
  readonly extraHeaders?: readonly string[];
}

/** A Fastify instance on 127.0.0.1 that reads every POST with `reader`. */
export async function uploadServer(): Promise<UploadServer> {
  const app = Fastify({ forceCloseConnections: true });
  await app.register(multipart);
  const outcomes: ((outcome: Outcome) => void)[] = [];
  app.post('/', async (request, reply) => {
    const outcome = await server.reader(request);
    outcomes.shift()?.(outcome);
    request.raw.resume();
    const { error } = outcome;
    return reply
      .code(error === undefined ? 200 : 400)
      .send(error instanceof SnapshotError ? error.code : 'done');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const server: UploadServer = {
    app,
    port,
    reader: reading(),
    close: async () => {
      await app.close();
    },
    upload: async (body, how = {}) => {
      const outcome = new Promise<Outcome>((resolve) => outcomes.push(resolve));
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      socket.on('error', () => undefined);
      socket.resume();
      const contentType =
        'contentType' in how ? how.contentType : `multipart/form-data; boundary=${BOUNDARY}`;
      const head = ['POST / HTTP/1.1', 'Host: localhost', `Content-Length: ${how.promised ?? body.length}`];
      if (contentType !== undefined) head.push(`Content-Type: ${contentType}`);
      socket.write([...head, ...(how.extraHeaders ?? []), '', ''].join('\r\n'), 'latin1');
      await writePieces(socket, body, how.pieces);
      if (how.hangUp === 'end') socket.end();
      if (how.hangUp === 'reset') socket.resetAndDestroy();
      const result = await within(5_000, outcome);
      socket.destroy();
      return result;
    },
  };
  return server;
}

async function writePieces(
  socket: Socket,
  body: Buffer,
  pieces: readonly number[] = [body.length],
): Promise<void> {
  let at = 0;
  for (let turn = 0; at < body.length; turn += 1) {
    const size = Math.max(1, pieces[turn % pieces.length] ?? 1);
    socket.write(body.subarray(at, at + size));
    at += size;
    if (pieces.length > 0 && at < body.length) await nextTurn();
  }
}

/** Fails, instead of waiting for ever, when `promise` does not settle in time. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Nothing happened within ${milliseconds} ms.`));
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface PartToSend {
  readonly name: string;
  readonly payload: Buffer | string;
  readonly fileName?: string;
  readonly headers?: readonly string[];
}

/** A well-formed body. */
export function bodyOf(parts: readonly PartToSend[], boundary = BOUNDARY): Buffer {
  const pieces = parts.flatMap(({ name, payload, fileName, headers = [] }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    const lines = [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${name}"${file}`,
      ...headers,
      '',
      '',
    ];
    return [Buffer.from(lines.join('\r\n')), Buffer.from(payload as string), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

const disposition = (name: string): string => `Content-Disposition: form-data; name="${name}"`;
const first = `--${BOUNDARY}\r\n${disposition('metadata')}\r\n\r\n{}\r\n`;
const around = (part: string): string => `${first}${part}\r\n--${BOUNDARY}--\r\n`;
const withHeaders = (...lines: string[]): string =>
  around(`--${BOUNDARY}\r\n${lines.join('\r\n')}\r\n\r\nxyz`);

/** Bodies of which form parsers drop, alter or misread something; each is otherwise well-formed. */
export const oddities: readonly (readonly [what: string, body: string])[] = [
  ['an empty body', ''],
  ['only a CR LF', '\r\n'],
  ['a preamble', `hello\r\n${first}--${BOUNDARY}--\r\n`],
  ['two CR LF before the first delimiter', `\r\n\r\n${first}--${BOUNDARY}--\r\n`],
  ['another boundary than declared', first.replaceAll(BOUNDARY, 'other') + '--other--\r\n'],
  [
    'blanks after the first delimiter',
    `--${BOUNDARY} \r\n${disposition('metadata')}\r\n\r\n{}\r\n--${BOUNDARY}--\r\n`,
  ],
  ['blanks after a later delimiter', around(`--${BOUNDARY} \t\r\n${disposition('ids')}\r\n\r\nxyz`)],
  ['one dash after a delimiter', around(`--${BOUNDARY}-\r\n${disposition('ids')}\r\n\r\nxyz`)],
  ['a bare LF after a delimiter', around(`--${BOUNDARY}\n${disposition('ids')}\r\n\r\nxyz`)],
  [
    'a payload that contains the delimiter',
    around(`--${BOUNDARY}\r\n${disposition('ids')}\r\n\r\nx\r\n--${BOUNDARY}yz`),
  ],
  ['a part without headers', around(`--${BOUNDARY}\r\n\r\nxyz`)],
  ['a part without Content-Disposition', withHeaders('Content-Type: text/plain')],
  ['two Content-Dispositions', withHeaders(disposition('ids'), disposition('other'))],
  ['an attachment', withHeaders('Content-Disposition: attachment; name="ids"')],
  ['no name', withHeaders('Content-Disposition: form-data')],
  ['a file name only', withHeaders('Content-Disposition: form-data; filename="ids"')],
  ['two names', withHeaders(`${disposition('ids')}; name="other"`)],
  ['two names around a file name', withHeaders(`${disposition('ids')}; filename="f"; name="other"`)],
  ['an extended name', withHeaders(`Content-Disposition: form-data; name*=UTF-8''ids`)],
  ['an extended name beside the name', withHeaders(`${disposition('ids')}; name*=UTF-8''other`)],
  ['a continued name', withHeaders('Content-Disposition: form-data; name*0=i; name*1=ds')],
  ['text after the quoted name', withHeaders(`${disposition('ids')}x`)],
  ['an open quote', withHeaders('Content-Disposition: form-data; name="ids')],
  ['an unquoted name with a blank', withHeaders('Content-Disposition: form-data; name=i ds')],
  ['a parameter without a value', withHeaders('Content-Disposition: form-data; x; name="ids"')],
  ['a header line without a colon', withHeaders(disposition('ids'), 'nonsense')],
  ['a header line without a name', withHeaders(disposition('ids'), ': value')],
  ['a blank before the colon', withHeaders('Content-Disposition : form-data; name="ids"')],
  ['a folded header', withHeaders('Content-Disposition: form-data;', ' name="ids"')],
  ['bare LF headers', around(`--${BOUNDARY}\r\n${disposition('ids')}\n\nxyz`)],
  ['a bare LF between headers', around(`--${BOUNDARY}\r\n${disposition('ids')}\nA: b\r\n\r\nxyz`)],
  ['a bare LF between other headers', withHeaders(disposition('ids'), 'A: bc\nD: e')],
  ['a header line that begins with the delimiter', withHeaders(disposition('ids'), `--${BOUNDARY}: x`)],
  ['a bare CR in a header', withHeaders(disposition('ids'), 'A: b\rC: d')],
  ['a NUL in a header', withHeaders(disposition('ids'), 'A: b\0')],
  ['headers that run into the next delimiter', around(`--${BOUNDARY}\r\n${disposition('ids')}`)],
  ['an empty line that is also the next delimiter', around(`--${BOUNDARY}\r\n${disposition('ids')}\r\n`)],
  ['a delimiter directly after a delimiter', around(`--${BOUNDARY}`)],
  [
    'two Content-Types',
    withHeaders(disposition('ids'), 'Content-Type: text/plain', 'Content-Type: text/html'),
  ],
  ['base64', withHeaders(disposition('ids'), 'Content-Transfer-Encoding: base64')],
  ['quoted-printable', withHeaders(disposition('ids'), 'content-transfer-encoding: Quoted-Printable')],
  ['gzip', withHeaders(disposition('ids'), 'Content-Encoding: gzip')],
  ['a Content-Length that is too long', withHeaders(disposition('ids'), 'Content-Length: 4')],
  ['a Content-Length that is too short', withHeaders(disposition('ids'), 'Content-Length: 2')],
  ['a Content-Length that is no number', withHeaders(disposition('ids'), 'Content-Length: 3.0')],
  ['a name on Object.prototype', withHeaders(disposition('constructor'))],
  ['the name __proto__', withHeaders(disposition('__proto__'))],
  ['no close delimiter', `${first}--${BOUNDARY}\r\n${disposition('ids')}\r\n\r\nxyz`],
  ['a last delimiter that does not close', `${first}--${BOUNDARY}\r\n`],
  ['half a close delimiter', `${first}--${BOUNDARY}-`],
  ['half a CR LF after the close delimiter', `${first}--${BOUNDARY}--\r`],
  ['a part after the close delimiter', `${first}--${BOUNDARY}--\r\n${around('')}`],
  ['text after the close delimiter', `${first}--${BOUNDARY}--\r\nbye`],
  ['text right after the close delimiter', `${first}--${BOUNDARY}--bye`],
  ['a bare LF after the last CR LF', `${first}--${BOUNDARY}--\r\n\n`],
  ['two CR LF after the close delimiter', `${first}--${BOUNDARY}--\r\n\r\n`],
];
