/** `pipewhy-snapshots/client`: everything a consumer of the service needs to name. */
export { SnapshotClient } from './snapshot-client.ts';
export type { CallOptions, ListOptions, PublishDocument, PublishMetadata } from './snapshot-client.ts';
export type { ClientOptions, RetryPolicy, Timeouts } from './options.ts';
export type { ArrayInput, BytesInput, FileInput } from './sources.ts';
export type { PublishOptions, PublishProgress, PublishResult } from './publish.ts';
export type { CompareOptions } from './comparison.ts';
export type { Comparison } from '../contract/comparison.ts';
export type { ArrayInfo, StreamOptions } from './reads.ts';
export type { ListedSnapshot, ListFilters, ListPageOptions, Page, PageOptions } from './listings.ts';
export {
  ChecksumMismatchError,
  ConnectionError,
  InvalidOptionError,
  isProblemError,
  OutcomeUnknownError,
  ProblemError,
  ProtocolError,
  SnapshotClientError,
  SourceError,
  TimeoutError,
} from './errors.ts';
export type { ClientErrorCode, Problem } from './errors.ts';
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
  RangeNotSatisfiableError,
  SnapshotError,
  SnapshotExistsError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  UnauthorizedError,
  UnavailableError,
  UnsupportedPackageError,
} from '../contract/errors.ts';
export type { ErrorCode, Violation } from '../contract/errors.ts';
export type { Dtype, IntegerArray, ReadonlyIntegerArray } from '../contract/dtypes.ts';
export type { ArrayEntry, Coverage, Fingerprint, Manifest, SnapshotMetadata } from '../contract/manifest.ts';
export type { OpenedSnapshot, ProvenManifest } from '../contract/opened.ts';
export type { DamagedSnapshot, IncompleteAttempt, SnapshotSummary } from '../contract/listings.ts';
export type { Declarations } from '../contract/contexts.ts';
