/** An array of a publication, whatever it came from. */
import type { Dtype } from '../contract/dtypes.ts';
import type { ArrayKey } from '../contract/ids.ts';

export interface ArraySource {
  readonly key: ArrayKey;
  /** Null: the document must say. */
  readonly dtype: Dtype | null;
  /** Bytes that `open` gives, or null for a stream of unknown length. */
  readonly byteLength: number | null;
  /** Whether `open` may be called again. */
  readonly replayable: boolean;
  /** Of a `.npy` file: sent before the bytes, and no part of the array. */
  readonly npyHeader?: Uint8Array;
  /** The raw little-endian bytes. */
  open(): AsyncIterable<Uint8Array>;
}
