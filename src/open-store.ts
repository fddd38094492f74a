/** Which store a root is: a directory, or a prefix of a bucket on an S3 engine, whose client is loaded only then. */
import type { S3StoreOptions } from './s3/s3-snapshot-store.ts';
import { LocalSnapshotStore } from './store/local-snapshot-store.ts';
import type { SnapshotStore } from './store/snapshot-store.ts';
import type { StoreOptions } from './store/store-options.ts';

const S3_SCHEME = 's3://';

/** Looks at nothing yet: `prepare` does. Throws `UnusableRootError` for a root that cannot be one. */
export async function openStore(
  root: string,
  options: StoreOptions & S3StoreOptions,
): Promise<SnapshotStore> {
  if (!root.startsWith(S3_SCHEME)) return new LocalSnapshotStore(root, options);
  const { S3SnapshotStore } = await import('./s3/s3-snapshot-store.ts');
  return S3SnapshotStore.open(root, options);
}
