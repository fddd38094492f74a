/**
 * The `.npy` form of an array (NumPy's format, versions 1.0 to 3.0): a header that says dtype and length, then the raw
 * bytes. What is stored is always the raw bytes alone.
 */
import { DTYPE_NAMES, dtypeWidth, isDtype, type Dtype } from '../contract/dtypes.ts';
import { SnapshotError } from '../contract/errors.ts';

export const NPY_MEDIA_TYPE = 'application/x-npy';

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** NumPy writes headers of 118 bytes; its own readers stop at 10,000. */
const MAX_HEADER_BYTES = 10_000;
const ALIGNMENT = 64;

export interface NpyPayload {
  readonly dtype: Dtype;
  /** The raw bytes; throws `array_mismatch` at the end when they are not as many as the header says. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** `<i8` for int64, `|u1` for uint8: NumPy's name of a dtype in little-endian order. */
function descrOf(dtype: Dtype): string {
  const width = dtypeWidth(dtype);
  return `${width === 1 ? '|' : '<'}${dtype.startsWith('u') ? 'u' : 'i'}${width}`;
}

const DTYPE_OF_DESCR: ReadonlyMap<string, Dtype> = new Map(
  DTYPE_NAMES.flatMap((dtype) => {
    const descr = descrOf(dtype);
    // A single byte has no order, whichever is given.
    const orders = dtypeWidth(dtype) === 1 ? ['|', '<', '>', '='] : ['<'];
    return orders.map((order) => [`${order}${descr.slice(1)}`, dtype] as const);
  }),
);

/** The header of a version 1.0 file for `count` elements, padded so that the payload begins on a multiple of 64 bytes. */
export function npyHeader(dtype: string, count: string): Buffer {
  if (!isDtype(dtype)) throw new TypeError(`Expected one of the eight dtypes, found ${dtype}.`);
  const text = `{'descr': '${descrOf(dtype)}', 'fortran_order': False, 'shape': (${count},), }`;
  const unpadded = MAGIC.length + 4 + text.length + 1;
  const padding = (ALIGNMENT - (unpadded % ALIGNMENT)) % ALIGNMENT;
  const header = `${text}${' '.repeat(padding)}\n`;
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  return Buffer.concat([MAGIC, Buffer.from([1, 0]), length, Buffer.from(header, 'latin1')]);
}

/** Reads the header of a `.npy` part and gives its dtype and raw bytes. `where` names the part in messages. */
export async function readNpy(source: AsyncIterable<Uint8Array>, where: string): Promise<NpyPayload> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  const need = async (bytes: number): Promise<void> => {
    while (head.length < bytes) {
      const next = await iterator.next();
      if (next.done === true)
        throw refused(where, 'ends within its header', 'send a whole .npy file, as numpy.save writes it');
      head = Buffer.concat([head, next.value]);
    }
  };
  await need(MAGIC.length + 2);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw refused(
      where,
      'does not begin like a .npy file',
      'send it as application/octet-stream if it holds raw bytes',
    );
  }
  const version = head[MAGIC.length] ?? 0;
  if (version < 1 || version > 3) {
    throw refused(where, `is of .npy version ${version}`, 'save it as version 1.0, 2.0 or 3.0');
  }
  const lengthBytes = version === 1 ? 2 : 4;
  const headerStart = MAGIC.length + 2 + lengthBytes;
  await need(headerStart);
  const headerLength = head.readUIntLE(MAGIC.length + 2, lengthBytes);
  if (headerLength > MAX_HEADER_BYTES) {
    throw refused(where, `has a header of ${headerLength} bytes`, `at most ${MAX_HEADER_BYTES} are read`);
  }
  await need(headerStart + headerLength);
  const header = head.subarray(headerStart, headerStart + headerLength).toString('latin1');
  const { dtype, count } = judgeHeader(header, where);
  const expected = count * BigInt(dtypeWidth(dtype));
  return { dtype, chunks: payload(head.subarray(headerStart + headerLength), iterator, expected, where) };
}

async function* payload(
  rest: Buffer,
  iterator: AsyncIterator<Uint8Array>,
  expected: bigint,
  where: string,
): AsyncGenerator<Uint8Array, void, void> {
  let seen = BigInt(rest.length);
  // At once, lest everything that follows be stored before it is refused.
  if (seen > expected) throw lengthMismatch(where, expected, 'more');
  if (rest.length > 0) yield rest;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    seen += BigInt(next.value.length);
    if (seen > expected) throw lengthMismatch(where, expected, 'more');
    yield next.value;
  }
  if (seen < expected) throw lengthMismatch(where, expected, String(seen));
}

function lengthMismatch(where: string, expected: bigint, found: string): SnapshotError<'array_mismatch'> {
  return new SnapshotError(
    'array_mismatch',
    `${where}: its .npy header announces ${expected} bytes of payload, but ${found} arrived.`,
    {
      errors: [
        { path: where, message: `must hold the ${expected} bytes its .npy header announces, found ${found}` },
      ],
      expected: String(expected),
      ...(found === 'more' ? {} : { actual: found }),
    },
  );
}

/** A Python dict literal of exactly these three keys, in any order, as `numpy.lib.format` reads it. */
const FIELD = new RegExp(
  String.raw`\s*(?<quote>['"])(?<name>descr|fortran_order|shape)\k<quote>\s*:\s*` +
    String.raw`(?<value>'[^'\\]*'|"[^"\\]*"|True|False|\([\d\s,L]*\)|\[[^:{}]*\])\s*(?:,|(?=\}))`,
  'uy',
);

function judgeHeader(header: string, where: string): { dtype: Dtype; count: bigint } {
  const fields = dictFields(header);
  const descr = fields?.get('descr');
  const shape = fields?.get('shape');
  const fortran = fields?.get('fortran_order');
  if (descr === undefined || shape === undefined || !/^(?:True|False)$/u.test(fortran ?? '')) {
    throw refused(where, 'has a header that cannot be read', 'save it with numpy.save');
  }
  const dtype = DTYPE_OF_DESCR.get(descr.slice(1, -1));
  if (dtype === undefined)
    throw refused(where, `holds elements of type ${descr.slice(0, 40)}`, adviceFor(descr));
  const count = /^\(\s*(\d+)L?\s*,\s*\)$/u.exec(shape)?.[1];
  if (count === undefined) {
    throw refused(
      where,
      `has the shape ${shape.slice(0, 40)}`,
      'arrays are one-dimensional: save a.reshape(-1)',
    );
  }
  // One dimension lies in memory the same way in both orders, so fortran_order has no say.
  return { dtype, count: BigInt(count) };
}

function dictFields(header: string): Map<string, string> | null {
  const text = header.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const fields = new Map<string, string>();
  FIELD.lastIndex = 1;
  let end = 1;
  for (let match = FIELD.exec(text); match !== null; match = FIELD.exec(text)) {
    const { name = '', value = '' } = match.groups ?? {};
    if (fields.has(name)) return null;
    fields.set(name, value);
    end = FIELD.lastIndex;
  }
  return text.slice(end).trim() === '}' ? fields : null;
}

function adviceFor(descr: string): string {
  if (descr.startsWith('[')) return "send each field as an array of its own: save a['name'].copy()";
  const [, order, kind, width] = /^([<>|=]?)([a-z?])(\d*)$/iu.exec(descr.slice(1, -1)) ?? [];
  if (order === '>' && (kind === 'i' || kind === 'u')) {
    return `bytes must be little-endian: save a.astype('<${kind}${width ?? ''}')`;
  }
  if (kind === 'b' || kind === '?')
    return "say how booleans become integers, for example save a.astype('u1')";
  if (kind === 'f' || kind === 'M' || kind === 'm') {
    return "only integers are kept: save a.astype('<i8') if that loses nothing, or a.view('<i8') for the raw bits";
  }
  return "only integers of 8 to 64 bits are kept: save for example a.astype('<i8')";
}

function refused(where: string, problem: string, advice: string): SnapshotError<'array_mismatch'> {
  return new SnapshotError('array_mismatch', `${where}: the .npy part ${problem}; ${advice}.`, {
    errors: [{ path: where, message: `the .npy part ${problem}; ${advice}` }],
  });
}
