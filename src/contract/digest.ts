/** SHA-256 as the contract writes it: 64 lowercase hex digits (PW-07.03). */

import { createHash } from 'node:crypto';

export const SHA256_HEX_PATTERN = /^[0-9a-f]{64}$/;

/** The SHA-256 of `bytes` as 64 lowercase hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The exact content of `complete.sha256`: the manifest's digest and a newline, 65 ASCII bytes (PW-07.03). */
export function markerBytes(manifestSha256: string): Uint8Array {
  return new TextEncoder().encode(`${manifestSha256}\n`);
}
