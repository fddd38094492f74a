/** A manifest is believed only after its bytes have been proven here (PW-07.03, PW-07.05). */
import { sha256Hex } from '../contract/digest.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';
import { parseManifest, type Manifest } from '../contract/manifest.ts';
import { expectStatus, expectType, readBody, representationDigest } from './answers.ts';
import { ChecksumMismatchError, ProtocolError } from './errors.ts';
import { snapshotPath } from './names.ts';
import { retryingRead } from './retries.ts';
import type { Answer, Transport } from './transport.ts';

export interface ProvenManifest {
  readonly manifest: Manifest;
  /** The exact stored bytes. */
  readonly manifestBytes: Uint8Array;
  /** Of these bytes; what `complete.sha256` holds. */
  readonly manifestSha256: string;
  /** Whether the package holds an intent.json too; the service proved it to be canonical `{"snapshot_id":"<id>"}`. */
  readonly hasIntent: boolean;
}

const INTENT_LINK = /<[^>]*\/intent\.json>; *rel="related"/u;

/** `path` may be that of the manifest file. */
export async function fetchManifest(
  transport: Transport,
  id: SnapshotId,
  signal?: AbortSignal,
): Promise<ProvenManifest> {
  const path = snapshotPath(id);
  return retryingRead(transport.retry, signal, async () => {
    const answer = await expectStatus(await transport.request(path, { signal }), 200);
    return readManifest(answer, id);
  });
}

/**
 * Proves the manifest in an answer: its digests, canonical form, every rule of the contract, and that it is the
 * snapshot that was asked for.
 *
 * @throws ChecksumMismatchError, ProtocolError
 */
export async function readManifest(answer: Answer, id: SnapshotId): Promise<ProvenManifest> {
  expectType(answer, 'application/json');
  const expected = representationDigest(answer);
  const etag = answer.header('etag');
  const bytes = await readBody(answer);
  const actual = sha256Hex(bytes);
  if (actual !== expected) throw new ChecksumMismatchError(`manifest of ${id}`, expected, actual);
  if (etag !== `"${expected}"`) {
    throw new ProtocolError(`The ETag of ${id} is ${etag ?? 'missing'}, not the manifest's SHA-256.`, {
      status: answer.status,
    });
  }
  const manifest = parse(bytes, answer);
  const found = manifest.snapshot.snapshot_id;
  if (found !== id) {
    throw new ProtocolError(`Expected the manifest of ${id}, found that of ${found}.`, {
      status: answer.status,
    });
  }
  return {
    manifest,
    manifestBytes: bytes,
    manifestSha256: actual,
    hasIntent: INTENT_LINK.test(answer.header('link') ?? ''),
  };
}

function parse(bytes: Uint8Array, { status }: Answer): Manifest {
  try {
    return parseManifest(bytes);
  } catch (cause) {
    if (!isAnySnapshotError(cause)) throw cause;
    throw new ProtocolError(cause.message, { status, cause });
  }
}
