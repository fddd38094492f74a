/** Packages written straight to a disk, thousands a second: for tests that need many and nothing of how they came. */
import fs from 'node:fs';
import { join } from 'node:path';

import { buildManifest, parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import { MANIFEST_FILE, MARKER_FILE, markerBytes } from '../../src/contract/package.ts';

/** One package without arrays for each metadata. `root` is that of a prepared store. */
export function writePackages(root: string, metadata: Iterable<{ readonly snapshot_id: string }>): void {
  for (const one of metadata) {
    const directory = join(root, 'snapshots', one.snapshot_id);
    const { bytes, sha256 } = buildManifest({ snapshot: parseSnapshotMetadata(one), arrays: {} }, {});
    fs.mkdirSync(directory);
    fs.writeFileSync(join(directory, MANIFEST_FILE), bytes);
    fs.writeFileSync(join(directory, MARKER_FILE), markerBytes(sha256));
  }
}
