/** Turns a proven payload into an owned typed array for library callers (PW-07.05). */
import { hash } from 'node:crypto';
import { ownedArray, type ReadonlyIntegerArray } from '../contract/dtypes.ts';
import { checkDigest } from './payload-verification.ts';
import { named } from './integrity.ts';
import type { StoredPayload } from './stored-payload.ts';

/** Reads all of a payload into fresh memory and proves exactly those bytes before anyone sees them. */
export async function assembleArray(payload: StoredPayload): Promise<ReadonlyIntegerArray> {
  const { dtype } = payload.entry;
  const bytes = new Uint8Array(payload.byteLength);
  let at = 0;
  for await (const block of payload.blocks()) {
    bytes.set(block, at);
    at += block.length;
  }
  try {
    checkDigest(payload.entry, hash('sha256', bytes));
  } catch (error) {
    throw named(error, payload.snapshotId);
  }
  return ownedArray(dtype, bytes);
}
