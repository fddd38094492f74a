/** Bodies of `POST /snapshots`, made by hand. */
import { bodyOf, BOUNDARY } from '../http/multipart-support.ts';
import { ask, type Answer } from './http.ts';
import { metadataOf } from './stores.ts';

export interface ArrayPart {
  readonly dtype: string;
  readonly bytes: Uint8Array;
  /** The part's name; the array's key unless given. */
  readonly name?: string;
}

export interface PartOfUpload {
  readonly name: string;
  readonly payload: Uint8Array;
}

export interface UploadStyle {
  /** Whether the parts carry file names, as those of curl's `--form name=@file` do. */
  readonly fileNames?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** Posts `metadata`, exactly these bytes, and then the parts in their order. */
export function post(
  url: string,
  metadata: Uint8Array,
  parts: readonly PartOfUpload[],
  { fileNames = true, headers = {} }: UploadStyle = {},
): Promise<Answer> {
  const all = [{ name: 'metadata', payload: metadata }, ...parts].map(({ name, payload }) => ({
    name,
    payload: Buffer.from(payload),
    ...(fileNames ? { fileName: 'anything.dat' } : {}),
  }));
  return ask(url, '/snapshots', {
    method: 'POST',
    headers: { 'content-type': MULTIPART, ...headers },
    body: bodyOf(all),
  });
}

/** Publishes valid metadata with these arrays. */
export function publish(
  url: string,
  id: string,
  arrays: Readonly<Record<string, ArrayPart>>,
  changes: Record<string, unknown> = {},
  style: UploadStyle = {},
): Promise<Answer> {
  const entries = Object.entries(arrays);
  const document = {
    snapshot: metadataOf(id, changes),
    arrays: Object.fromEntries(entries.map(([key, { dtype }]) => [key, { dtype }])),
  };
  const parts = entries.map(([key, { bytes, name = key }]) => ({ name, payload: bytes }));
  return post(url, Buffer.from(JSON.stringify(document)), parts, style);
}

/** The raw bytes of a typed array. */
export function bytesOf(array: { buffer: ArrayBufferLike; byteOffset: number; byteLength: number }): Buffer {
  return Buffer.from(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
}

/** Two small arrays, one of them empty. */
export const EXAMPLE_ARRAYS: Readonly<Record<string, ArrayPart>> = {
  ids: { dtype: 'uint64', bytes: bytesOf(new BigUint64Array([1n, 2n, 2n ** 64n - 1n])) },
  flags: { dtype: 'uint8', bytes: Buffer.from([1, 0, 1]) },
  none: { dtype: 'int16', bytes: Buffer.alloc(0) },
};
