/** SHA-256 as the contract writes it: 64 lowercase hex digits (PW-07.03). */

import { hash } from 'node:crypto';

/** The SHA-256 of `bytes` as 64 lowercase hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}
