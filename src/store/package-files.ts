/** A whole proven package as its files, for mirroring it in one piece (PW-07.02). */
import { INTENT_FILE, MANIFEST_FILE, MARKER_FILE, intentBytes, markerBytes } from '../contract/package.ts';
import { StorageIntegrityError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';
import type { ListedManifest } from './listing.ts';
import type { StoredPayload } from './stored-payload.ts';

export interface PackagedFile {
  readonly name: string;
  readonly byteLength: number;
  /** The exact bytes; a block is valid only until the next one is asked for. Opens and closes what it needs. */
  blocks(): AsyncIterable<Uint8Array>;
}

export interface PackageFiles extends ListedManifest {
  readonly files: readonly PackagedFile[];
}

/**
 * The files of a package whose every byte was just proven, in the order in which they were written: the marker comes
 * last, so that a copy cut short is not complete. `open` must give a payload in the state that was proven.
 */
export function packageFiles(
  id: SnapshotId,
  proven: ListedManifest,
  open: (key: string) => Promise<StoredPayload>,
): PackageFiles {
  const payloads = Object.entries(proven.manifest.arrays).map(([key, entry]): PackagedFile => ({
    name: entry.file,
    byteLength: Number(entry.byte_length),
    blocks: () => payloadBlocks(() => open(key), proven.manifestSha256),
  }));
  const intent = proven.hasIntent ? [inMemory(INTENT_FILE, intentBytes(id))] : [];
  return {
    ...proven,
    files: [
      ...intent,
      ...payloads,
      inMemory(MANIFEST_FILE, proven.manifestBytes),
      inMemory(MARKER_FILE, markerBytes(proven.manifestSha256)),
    ],
  };
}

async function* payloadBlocks(
  open: () => Promise<StoredPayload>,
  manifestSha256: string,
): AsyncGenerator<Uint8Array, void, void> {
  const payload = await open();
  try {
    if (payload.manifestSha256 !== manifestSha256) {
      throw new StorageIntegrityError('The package was replaced while it was being read.', {
        snapshot_id: payload.snapshotId,
        problem: 'manifest',
        location: MANIFEST_FILE,
      });
    }
    yield* payload.blocks();
  } finally {
    await payload.close();
  }
}

function inMemory(name: string, bytes: Uint8Array): PackagedFile {
  return {
    name,
    byteLength: bytes.length,
    blocks: async function* () {
      yield bytes;
      await Promise.resolve();
    },
  };
}
