/** The library: the seed's public names (PW-07.18) and what their callers need to name. */
export { LocalSnapshotStore } from './store/local-snapshot-store.ts';
export { S3SnapshotStore } from './s3/s3-snapshot-store.ts';
export type { S3StoreOptions } from './s3/s3-snapshot-store.ts';
export { openStore } from './open-store.ts';
export type { OpenedSnapshot, ProvenManifest } from './contract/opened.ts';
export type { StoreObserver, StoreOptions } from './store/store-options.ts';
export type { ArrayInput, ByteStream } from './store/arrivals.ts';
export type { SnapshotListing, ListingQuery } from './store/listing.ts';
export type { IncompleteListing, IncompleteQuery } from './store/inspection.ts';
export type { DamagedSnapshot, IncompleteAttempt, SnapshotSummary } from './contract/listings.ts';
export type {
  PackagedFile,
  PackageFiles,
  PublicationOptions,
  Published,
  ReadOptions,
  SnapshotStore,
  StoredArray,
} from './store/snapshot-store.ts';
export { compareSnapshots } from './store/comparison.ts';
export type { ComparedPayload, ComparedSide, CompareOptions, ProvenSide } from './store/comparison.ts';
export type { Comparison } from './contract/comparison.ts';
export { UnusableRootError } from './store/root.ts';
export type { SnapshotMetadata, Manifest, ArrayEntry, Coverage, Fingerprint } from './contract/manifest.ts';
export type { Dtype, IntegerArray, ReadonlyIntegerArray } from './contract/dtypes.ts';
export { parseDeclarations } from './contract/contexts.ts';
export type { Declarations } from './contract/contexts.ts';
export {
  ArrayMismatchError,
  ArrayNotFoundError,
  ContractViolationError,
  FingerprintContextMismatchError,
  InsufficientStorageError,
  InvalidSnapshotIdError,
  LimitExceededError,
  ParentNotCompleteError,
  PublicationInProgressError,
  PublicationUncertainError,
  SnapshotError,
  SnapshotExistsError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  UnavailableError,
  UnsupportedPackageError,
} from './contract/errors.ts';
export type { ErrorCode, Violation } from './contract/errors.ts';
