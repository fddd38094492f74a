/** A `.npy` file as an array: sent as it is; what is hashed, declared and stored is its raw payload (PW-07.02). */
import type { Dtype } from '../contract/dtypes.ts';
import { isSnapshotError } from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import { readNpy, type NpyPayload } from '../contract/npy.ts';
import { npyDescr } from '../contract/npy-header.ts';
import type { ArraySource } from './array-source.ts';
import { refusedLocally, type ProblemError } from './problem-errors.ts';

export interface NpyFile {
  readonly path: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** The file's bytes from a position to its end. */
  readonly blocksFrom: (start: number) => AsyncGenerator<Uint8Array, void, void>;
}

/** Throws `ArrayMismatchError`, as the service would, for what is no 1-D array of little-endian integers or not whole. */
export async function npySource(key: ArrayKey, stated: Dtype | null, file: NpyFile): Promise<ArraySource> {
  const { dtype, header, byteLength } = await readHeader(key, file);
  const found = file.size - header.length;
  if (BigInt(found) !== byteLength) {
    throw refused(
      key,
      `${file.path} holds ${found} bytes of payload; its header announces ${byteLength}; save it again with numpy.save`,
    );
  }
  if (stated !== null && stated !== dtype) {
    throw refused(
      key,
      `is given as ${stated}, but the header of ${file.path} says ${dtype}; leave the dtype out, or save ` +
        `a.astype('${npyDescr(stated)}')`,
    );
  }
  return {
    key,
    dtype,
    byteLength: found,
    replayable: true,
    npyHeader: header,
    open: () => file.blocksFrom(header.length),
  };
}

async function readHeader(key: ArrayKey, { path, blocksFrom }: NpyFile): Promise<NpyPayload> {
  const blocks = blocksFrom(0);
  try {
    return await readNpy(blocks, `arrays.${key}`);
  } catch (error) {
    if (!isSnapshotError(error, 'array_mismatch')) throw error;
    const [violation] = error.details.errors;
    throw refused(key, `${path}: ${violation?.message ?? error.message}`);
  } finally {
    await blocks.return();
  }
}

function refused(key: ArrayKey, message: string): ProblemError<'array_mismatch'> {
  const path = `arrays.${key}`;
  return refusedLocally('array_mismatch', 422, 'The arrays are not those declared', `${path}: ${message}.`, {
    errors: [{ path, message }],
  });
}
