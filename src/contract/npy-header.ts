/** The header of a `.npy` file: what NumPy calls the dtypes, and what its dict must say to be an array of the contract. */
import { DTYPE_NAMES, dtypeWidth, isDtype, type Dtype } from './dtypes.ts';
import { SnapshotError } from './errors.ts';

export const NPY_MAGIC = Buffer.from('\x93NUMPY', 'latin1');
const ALIGNMENT = 64;

/** `<i8` for int64, `|u1` for uint8: NumPy's name of a dtype in little-endian order. */
export function npyDescr(dtype: Dtype): string {
  const width = dtypeWidth(dtype);
  return `${width === 1 ? '|' : '<'}${dtype.startsWith('u') ? 'u' : 'i'}${width}`;
}

const DTYPE_OF_DESCR: ReadonlyMap<string, Dtype> = new Map(
  DTYPE_NAMES.flatMap((dtype) => {
    const descr = npyDescr(dtype);
    // A single byte has no order, whichever is given.
    const orders = dtypeWidth(dtype) === 1 ? ['|', '<', '>', '='] : ['<'];
    return orders.map((order) => [`${order}${descr.slice(1)}`, dtype] as const);
  }),
);

/** The header of a version 1.0 file for `count` elements, padded so that the payload begins on a multiple of 64 bytes. */
export function npyHeader(dtype: string, count: string): Buffer {
  if (!isDtype(dtype)) throw new TypeError(`Expected one of the eight dtypes, found ${dtype}.`);
  const text = `{'descr': '${npyDescr(dtype)}', 'fortran_order': False, 'shape': (${count},), }`;
  const unpadded = NPY_MAGIC.length + 4 + text.length + 1;
  const padding = (ALIGNMENT - (unpadded % ALIGNMENT)) % ALIGNMENT;
  const header = `${text}${' '.repeat(padding)}\n`;
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  return Buffer.concat([NPY_MAGIC, Buffer.from([1, 0]), length, Buffer.from(header, 'latin1')]);
}

/** A Python dict literal of exactly these three keys, in any order, as `numpy.lib.format` reads it. */
const FIELD = new RegExp(
  String.raw`\s*(?<quote>['"])(?<name>descr|fortran_order|shape)\k<quote>\s*:\s*` +
    String.raw`(?<value>'[^'\\]*'|"[^"\\]*"|True|False|\([\d\s,L]*\)|\[[^:{}]*\])\s*(?:,|(?=\}))`,
  'uy',
);

/** Dtype and length by the text of a header. Throws `array_mismatch` with what to do instead. */
export function judgeNpyHeader(header: string, where: string): { dtype: Dtype; count: bigint } {
  const fields = dictFields(header);
  const descr = fields?.get('descr');
  const shape = fields?.get('shape');
  const fortran = fields?.get('fortran_order');
  if (descr === undefined || shape === undefined || !/^(?:True|False)$/u.test(fortran ?? '')) {
    throw refusedNpy(where, 'has a header that cannot be read', 'save it with numpy.save');
  }
  const dtype = DTYPE_OF_DESCR.get(descr.slice(1, -1));
  if (dtype === undefined)
    throw refusedNpy(where, `holds elements of type ${descr.slice(0, 40)}`, adviceFor(descr));
  const count = /^\(\s*(\d+)L?\s*,\s*\)$/u.exec(shape)?.[1];
  if (count === undefined) {
    throw refusedNpy(
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

/** `where` is the dotted path of the array. */
export function refusedNpy(where: string, problem: string, advice: string): SnapshotError<'array_mismatch'> {
  return new SnapshotError('array_mismatch', `${where}: the .npy file ${problem}; ${advice}.`, {
    errors: [{ path: where, message: `the .npy file ${problem}; ${advice}` }],
  });
}
