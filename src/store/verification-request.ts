/** What a proof of a package is asked for and what it gives. */
import type { Declarations } from '../contract/contexts.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { Manifest } from '../contract/manifest.ts';
import type { BlockMacs } from './block-macs.ts';
import type { FileStamp } from './file-system.ts';

/** The state in which the checksum of a payload held. */
export interface PayloadProof extends FileStamp {
  /** Of a large payload, where they were asked for. */
  readonly macs?: BlockMacs;
}

/** Proofs made before, by file name; a file in the same state is not hashed again. */
export type KnownProofs = Readonly<Record<string, PayloadProof>>;

export interface VerificationRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly snapshotId: SnapshotId;
  readonly declarations: Declarations;
  /** `staged` is an attempt before its marker: everything else must hold. */
  readonly stage: 'complete' | 'staged';
  /** Whose checksums are proven; lengths and the inventory always are. */
  readonly payloads: 'all' | 'none' | { readonly key: ArrayKey };
  readonly known?: KnownProofs;
  /** Whether large payloads will be read again, to be sent, and need the codes of their blocks for it. */
  readonly withMacs?: boolean;
}

export interface VerifiedPackage {
  readonly manifest: Manifest;
  /** The exact stored bytes, proven canonical. */
  readonly manifestBytes: Uint8Array;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** Of each payload whose checksum was proven. */
  readonly stamps: KnownProofs;
  /** Whether the optional `intent.json` lies in the package. */
  readonly hasIntent: boolean;
}
