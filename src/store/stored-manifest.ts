/** Marker and manifest of a package: read whole, compared, judged (PW-07.01, PW-07.03). */
import { MANIFEST_FILE, MARKER_FILE, markerBytes } from '../contract/package.ts';
import { StorageIntegrityError } from '../contract/errors.ts';
import { parseManifest, type Manifest } from '../contract/manifest.ts';
import type { FileSystemReader } from './file-system.ts';
import { missingFile } from './integrity.ts';
import { readAtMost, readExactly, withFile } from './stored-file.ts';
import type { VerificationRequest } from './verification-request.ts';

/** Above this a stored manifest is refused instead of read into memory; far above what publishing can make. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const MARKER_BYTES = 65;

export function readMarker(
  fs: FileSystemReader,
  request: VerificationRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  if (!present.has(MARKER_FILE)) throw missingFile(MARKER_FILE, 'marker');
  return withFile(fs, `${request.directory}/${MARKER_FILE}`, MARKER_FILE, 'marker', (file) =>
    readAtMost(fs, file, MARKER_BYTES),
  );
}

export function readManifest(
  fs: FileSystemReader,
  request: VerificationRequest,
  present: ReadonlySet<string>,
): Uint8Array {
  if (!present.has(MANIFEST_FILE)) throw missingFile(MANIFEST_FILE, 'manifest');
  return withFile(fs, `${request.directory}/${MANIFEST_FILE}`, MANIFEST_FILE, 'manifest', (file, stat) => {
    if (stat.size > BigInt(MAX_MANIFEST_BYTES)) {
      throw new StorageIntegrityError(
        `${MANIFEST_FILE} is ${stat.size} bytes long; at most ${MAX_MANIFEST_BYTES} are read.`,
        { problem: 'manifest', location: MANIFEST_FILE },
      );
    }
    return readExactly(fs, file, MANIFEST_FILE, Number(stat.size));
  });
}

export function checkMarker(marker: Uint8Array, manifestSha256: string): void {
  if (Buffer.from(markerBytes(manifestSha256)).equals(marker)) return;
  throw new StorageIntegrityError(
    `${MARKER_FILE} must hold the SHA-256 of the stored ${MANIFEST_FILE} as 64 lowercase hex digits and a newline.`,
    {
      problem: 'marker',
      location: MARKER_FILE,
      expected: manifestSha256,
      actual: Buffer.from(marker.subarray(0, 64))
        .toString('latin1')
        .replace(/[^\x20-\x7e]/gu, '?'),
    },
  );
}

/**
 * The judgement of a manifest depends on its bytes alone, so it is remembered by their SHA-256. The bytes themselves
 * are read and hashed every time.
 */
const judged = new Map<string, Manifest>();
const JUDGED_MANIFESTS = 512;
const JUDGED_MANIFEST_BYTES = 64 * 1024;

export function judgeManifest(bytes: Uint8Array, sha256: string): Manifest {
  const before = judged.get(sha256);
  if (before !== undefined) return before;
  const manifest = parseManifest(bytes);
  if (bytes.length <= JUDGED_MANIFEST_BYTES) {
    if (judged.size >= JUDGED_MANIFESTS) {
      const [oldest] = judged.keys();
      if (oldest !== undefined) judged.delete(oldest);
    }
    judged.set(sha256, manifest);
  }
  return manifest;
}
