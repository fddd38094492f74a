/**
 * The `.npy` form of an array (NumPy's format, versions 1.0 to 3.0): a header that says dtype and length, then the raw
 * bytes. What is stored is always the raw bytes alone.
 */
import { dtypeWidth, type Dtype } from './dtypes.ts';
import { SnapshotError } from './errors.ts';
import { judgeNpyHeader, NPY_MAGIC, refusedNpy } from './npy-header.ts';

export const NPY_MEDIA_TYPE = 'application/x-npy';

/** NumPy writes headers of 118 bytes; its own readers stop at 10,000. */
const MAX_HEADER_BYTES = 10_000;

const WHOLE_FILE = 'send a whole .npy file, as numpy.save writes it';

export interface NpyPayload {
  readonly dtype: Dtype;
  /** Everything before the payload, exactly as it stands in the file. */
  readonly header: Uint8Array;
  /** Of the payload, by the header. */
  readonly byteLength: bigint;
  /** The raw bytes; throws `array_mismatch` at the end when they are not as many as the header says. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads the header of a `.npy` file and gives what it says, and the raw bytes. `where` is the dotted path of the array.
 *
 * @throws SnapshotError `array_mismatch` for what is no one-dimensional array of little-endian integers, with what to do
 */
export async function readNpy(source: AsyncIterable<Uint8Array>, where: string): Promise<NpyPayload> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  const need = async (bytes: number): Promise<void> => {
    while (head.length < bytes) {
      const next = await iterator.next();
      if (next.done === true) throw refusedNpy(where, 'ends within its header', WHOLE_FILE);
      head = Buffer.concat([head, next.value]);
    }
  };
  await need(NPY_MAGIC.length + 2);
  if (!head.subarray(0, NPY_MAGIC.length).equals(NPY_MAGIC)) {
    throw refusedNpy(
      where,
      'does not begin like a .npy file',
      'send it as application/octet-stream if it holds raw bytes, from a file that is not called .npy',
    );
  }
  const version = head[NPY_MAGIC.length] ?? 0;
  if (version < 1 || version > 3) {
    throw refusedNpy(where, `is of .npy version ${version}`, 'save it as version 1.0, 2.0 or 3.0');
  }
  const lengthBytes = version === 1 ? 2 : 4;
  const headerStart = NPY_MAGIC.length + 2 + lengthBytes;
  await need(headerStart);
  const headerLength = head.readUIntLE(NPY_MAGIC.length + 2, lengthBytes);
  if (headerLength > MAX_HEADER_BYTES) {
    throw refusedNpy(
      where,
      `has a header of ${headerLength} bytes, of which at most ${MAX_HEADER_BYTES} are read`,
      'save it with numpy.save',
    );
  }
  await need(headerStart + headerLength);
  const text = head.subarray(headerStart, headerStart + headerLength).toString('latin1');
  const { dtype, count } = judgeNpyHeader(text, where);
  const expected = count * BigInt(dtypeWidth(dtype));
  const rest = head.subarray(headerStart + headerLength);
  return {
    dtype,
    header: head.subarray(0, headerStart + headerLength),
    byteLength: expected,
    chunks: payload(rest, iterator, expected, where),
  };
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
    `${where}: its .npy header announces ${expected} bytes of payload, but ${found} arrived; ${WHOLE_FILE}.`,
    {
      errors: [
        { path: where, message: `must hold the ${expected} bytes its .npy header announces, found ${found}` },
      ],
      expected: String(expected),
      ...(found === 'more' ? {} : { actual: found }),
    },
  );
}
