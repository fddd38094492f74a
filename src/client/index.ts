/** `pipewhy-snapshots/client`: everything a consumer of the service needs to name. */
export { SnapshotClient } from './snapshot-client.ts';
export type { CallOptions, ListOptions, PublishDocument, PublishMetadata } from './snapshot-client.ts';
export type { ClientOptions, RetryPolicy, Timeouts } from './options.ts';
export type { ArrayInput, BytesInput, FileInput } from './array-sources.ts';
export type { PublishOptions, PublishProgress, PublishResult } from './publish-options.ts';
export type { ProvenManifest } from './proven-manifest.ts';
export type { OpenedSnapshot } from './opened-snapshot.ts';
export type { ArrayInfo } from './array-info.ts';
export type { StreamOptions } from './array-stream.ts';
export type { IncompleteAttempt, ListPageOptions, Page, PageOptions, SnapshotSummary } from './listings.ts';
export {
  ChecksumMismatchError,
  ConnectionError,
  OutcomeUnknownError,
  ProtocolError,
  SnapshotClientError,
  SourceError,
  TimeoutError,
} from './errors.ts';
export type { ClientErrorCode } from './errors.ts';
export {
  ArrayMismatchError,
  ArrayNotFoundError,
  ContractViolationError,
  FingerprintContextMismatchError,
  InsufficientStorageError,
  InvalidSnapshotIdError,
  isProblemError,
  LimitExceededError,
  ParentNotCompleteError,
  PROBLEM_ERRORS,
  ProblemError,
  PublicationInProgressError,
  PublicationUncertainError,
  RangeNotSatisfiableError,
  SnapshotExistsError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  UnauthorizedError,
  UnavailableError,
  UnsupportedPackageError,
} from './problem-errors.ts';
export type { Problem } from './problem-errors.ts';
export type { ErrorCode, Violation } from '../contract/errors.ts';
export type { Dtype, IntegerArray } from '../contract/dtypes.ts';
export type { ArrayEntry, Coverage, Fingerprint, Manifest, SnapshotMetadata } from '../contract/manifest.ts';
export type { Declarations } from '../contract/contexts.ts';
