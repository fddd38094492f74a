/** What the headers of an array say of it. */
import { dtypeWidth, isDtype, type Dtype } from '../contract/dtypes.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import { isUint64 } from '../contract/uint64.ts';
import { expectStatus, expectType, representationDigest } from './answers.ts';
import { ProtocolError } from './errors.ts';
import { arrayPath } from './names.ts';
import { retryingRead } from './retries.ts';
import type { Answer, Transport } from './transport.ts';

export interface ArrayInfo {
  readonly dtype: Dtype;
  /** Elements. */
  readonly count: number;
  /** Bytes: count times the dtype's width. */
  readonly byteLength: number;
  /** Of the whole array, 64 lowercase hex digits. */
  readonly sha256: string;
  /** The strong entity tag, quotes included. */
  readonly etag: string;
}

/** Asks with HEAD; the service proves the array before it answers. */
export async function fetchArrayInfo(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  signal?: AbortSignal,
): Promise<ArrayInfo> {
  const path = arrayPath(id, key);
  return retryingRead(transport.retry, signal, async () => {
    const answer = await transport.request(path, { method: 'HEAD', signal });
    answer.discard();
    if (answer.status === 200) return arrayInfo(answer);
    // The refusal of a HEAD has no body; the same question as GET says what is wrong.
    const full = await expectStatus(await transport.request(path, { signal }), 200);
    full.discard();
    return arrayInfo(full);
  });
}

/** Throws `ProtocolError` for a header that is missing or contradicts another. */
export function arrayInfo(answer: Answer): ArrayInfo {
  expectType(answer, 'application/octet-stream');
  const dtype = answer.header('array-dtype');
  const count = answer.header('array-count');
  const etag = answer.header('etag');
  const sha256 = representationDigest(answer);
  const endianness = answer.header('array-endianness');
  if (!isDtype(dtype)) throw wrong(answer, 'Array-Dtype', dtype, 'one of the eight integer dtypes');
  if (!isUint64(count)) throw wrong(answer, 'Array-Count', count, 'a number of elements');
  if (endianness !== 'little') throw wrong(answer, 'Array-Endianness', endianness, '"little"');
  if (etag === null || !/^"[^"]*"$/u.test(etag)) throw wrong(answer, 'ETag', etag, 'a strong entity tag');
  const byteLength = Number(count) * dtypeWidth(dtype);
  if (!Number.isSafeInteger(byteLength))
    throw wrong(answer, 'Array-Count', count, 'a length below 2^53 bytes');
  return { dtype, count: Number(count), byteLength, sha256, etag };
}

function wrong(answer: Answer, header: string, found: string | null, expected: string): ProtocolError {
  answer.discard();
  return new ProtocolError(`The header ${header} must be ${expected}; found ${found ?? 'none'}.`, {
    status: answer.status,
  });
}
