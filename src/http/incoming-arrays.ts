/** From multipart parts to payloads: raw bytes as they are, `.npy` files by what their header says. */
import { arrayKeyOfFileName, isArrayKey } from '../contract/ids.ts';
import type { IncomingPayload } from '../store/incoming-payloads.ts';
import type { IncomingPart } from './multipart-parts.ts';
import { NPY_MEDIA_TYPE, readNpy } from './npy.ts';

const NPY_NAME = /^array-(?<key>[a-z][a-z0-9_]{0,63})\.npy$/u;

/** A part's media type decides its form; its name may be the key, or the file name of either form. */
export async function* incomingArrays(
  parts: AsyncIterable<IncomingPart>,
): AsyncGenerator<IncomingPayload, void, void> {
  for await (const { name, mediaType, chunks } of parts) {
    if (mediaType !== NPY_MEDIA_TYPE) {
      yield { name, chunks };
      continue;
    }
    const plainName = NPY_NAME.exec(name)?.groups?.['key'] ?? name;
    const key = isArrayKey(plainName) ? plainName : arrayKeyOfFileName(plainName);
    const npy = await readNpy(chunks, key === null ? 'arrays' : `arrays.${key}`);
    yield { name: plainName, chunks: npy.chunks, dtype: npy.dtype };
  }
}
