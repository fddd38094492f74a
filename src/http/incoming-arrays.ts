/** From multipart parts to payloads: raw bytes as they are, `.npy` files by what their header says. */
import { arrayKeyOfFileName } from '../contract/package.ts';
import { SnapshotError } from '../contract/errors.ts';
import { isArrayKey } from '../contract/ids.ts';
import { NPY_MEDIA_TYPE, readNpy } from '../contract/npy.ts';
import type { IncomingPayload } from '../store/incoming-payloads.ts';
import type { IncomingPart } from './multipart-parts.ts';

const NPY_NAME = /^array-(?<key>[a-z][a-z0-9_]{0,63})\.npy$/u;

/** A part's media type decides its form; its name may be the key, or the file name of either form. */
export async function* incomingArrays(
  parts: AsyncIterable<IncomingPart>,
): AsyncGenerator<IncomingPayload, void, void> {
  for await (const { name, mediaType, chunks } of parts) {
    const npyKey = NPY_NAME.exec(name)?.groups?.['key'];
    if (mediaType !== NPY_MEDIA_TYPE) {
      if (npyKey !== undefined) throw unmarkedNpy(npyKey, mediaType);
      yield { name, chunks };
      continue;
    }
    const plainName = npyKey ?? name;
    const key = isArrayKey(plainName) ? plainName : arrayKeyOfFileName(plainName);
    const npy = await readNpy(chunks, key === null ? 'arrays' : `arrays.${key}`);
    yield { name: plainName, chunks: npy.chunks, dtype: npy.dtype };
  }
}

/** Only a name ends like this, so the header would be stored as if it were elements. */
function unmarkedNpy(key: string, mediaType: string): SnapshotError<'array_mismatch'> {
  const problem = `arrived as array-${key}.npy of media type ${mediaType.slice(0, 80)}`;
  const advice = `send a .npy file as ${NPY_MEDIA_TYPE}, or raw bytes as array-${key}.bin`;
  return new SnapshotError('array_mismatch', `arrays.${key}: ${problem}; ${advice}.`, {
    errors: [{ path: `arrays.${key}`, message: `${problem}; ${advice}` }],
  });
}
