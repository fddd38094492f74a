/** The files of a package: their names, and the exact bytes of the two that say nothing of their own (PW-07.02 to PW-07.04). */
import { canonicalJson } from './canonical-json.ts';
import type { ArrayKey, SnapshotId } from './ids.ts';

/** The canonical manifest. */
export const MANIFEST_FILE = 'manifest.json';
/** Completes a package: written last. */
export const MARKER_FILE = 'complete.sha256';
/** Bytes of the marker: 64 hex digits and a newline. */
export const MARKER_BYTES = 65;
/** Names the snapshot an attempt is for: written first, optional in a package. */
export const INTENT_FILE = 'intent.json';

const PAYLOAD_FILE_NAME = /^array-([a-z][a-z0-9_]{0,63})\.bin$/;

/** The payload file of a key. The prefix keeps every legal key clear of Windows' reserved base names (PW-07.02). */
export function payloadFileName(key: ArrayKey): string {
  return `array-${key}.bin`;
}

/** The key whose payload file is called `name`, or null if `name` is not a payload file name. */
export function arrayKeyOfFileName(name: string): ArrayKey | null {
  return PAYLOAD_FILE_NAME.exec(name)?.[1] ?? null;
}

/** The exact content of the marker: the manifest's SHA-256 (64 lowercase hex) and a newline, 65 ASCII bytes (PW-07.03). */
export function markerBytes(manifestSha256: string): Uint8Array {
  return new TextEncoder().encode(`${manifestSha256}\n`);
}

/** The exact content of the intent: canonical `{"snapshot_id":"<id>"}` (PW-07.04 step 2). */
export function intentBytes(id: SnapshotId): Uint8Array {
  return canonicalJson({ snapshot_id: id });
}
