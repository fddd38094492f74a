/** One snapshot: its manifest, marker and whole package. */
import { TAR_MEDIA_TYPE } from '../../tar.ts';
import { FIRST_ID, FIRST_MANIFEST, FIRST_MARKER } from '../examples.ts';
import type { HeaderName } from '../headers.ts';
import type { Operation, Resource, Success } from '../operation.ts';
import type { ParameterName } from '../parameters.ts';

export const UNCHANGED = 'The client has these very bytes; given only after the same proof.';
export const CONDITIONS: readonly ParameterName[] = ['IfMatch', 'IfNoneMatch'];

const REFUSALS = [
  'invalid_snapshot_id',
  'snapshot_not_found',
  'not_found',
  'precondition_failed',
  'storage_integrity',
  'unsupported_package',
] as const;

const parameters: readonly ParameterName[] = ['SnapshotId', ...CONDITIONS, 'WantReprDigest'];
const manifestHeaders: readonly HeaderName[] = ['ETag', 'Repr-Digest', 'Link'];

const manifest: Success = {
  status: 200,
  description: "The manifest's exact bytes; every byte of the snapshot was proven first.",
  headers: manifestHeaders,
  content: {
    mediaType: 'application/json',
    schema: 'Manifest',
    examples: { first: { value: FIRST_MANIFEST } },
  },
};

function manifestOperation(id: string, summary: string): Operation {
  return {
    id,
    tag: 'snapshots',
    summary,
    description: `Every byte of the snapshot is proven first. A refusal never hands out a part of it.`,
    parameters,
    successes: [manifest, { status: 304, description: UNCHANGED, headers: manifestHeaders }],
    refusals: REFUSALS,
  };
}

export const snapshotResources: readonly Resource[] = [
  { path: '/snapshots/{snapshot_id}', get: manifestOperation('getSnapshot', 'Read a snapshot') },
  {
    path: '/snapshots/{snapshot_id}/manifest.json',
    get: manifestOperation('getManifest', 'Read the manifest under its file name'),
  },
  {
    path: '/snapshots/{snapshot_id}/complete.sha256',
    get: {
      id: 'getMarker',
      tag: 'snapshots',
      summary: 'Read the marker',
      description:
        'SHA-256 of the manifest in hex and a newline; every byte of the snapshot was proven first.',
      parameters,
      successes: [
        {
          status: 200,
          description: 'The exact bytes of the marker',
          headers: ['ETag', 'Repr-Digest'],
          content: {
            mediaType: 'text/plain; charset=us-ascii',
            schema: { type: 'string', pattern: '^[0-9a-f]{64}\\n$' },
            examples: { first: { value: FIRST_MARKER } },
          },
        },
        { status: 304, description: UNCHANGED, headers: ['ETag', 'Repr-Digest'] },
      ],
      refusals: REFUSALS,
    },
  },
  {
    path: '/snapshots/{snapshot_id}/intent.json',
    get: {
      id: 'getIntent',
      tag: 'snapshots',
      summary: 'Read the intent',
      description:
        'What the publication wrote first: canonical {"snapshot_id":"<id>"}. A package is whole without it, then this is ' +
        '`not_found`; where it is there, the Link of the manifest names it as related. Every byte of the snapshot was ' +
        'proven first.',
      parameters,
      successes: [
        {
          status: 200,
          description: 'The exact bytes of the intent',
          headers: ['ETag', 'Repr-Digest'],
          content: {
            mediaType: 'application/json',
            schema: {
              type: 'object',
              properties: { snapshot_id: { type: 'string', pattern: '^[0-9a-f]{32}$' } },
              required: ['snapshot_id'],
            },
            examples: { first: { value: { snapshot_id: FIRST_ID } } },
          },
        },
        { status: 304, description: UNCHANGED, headers: ['ETag', 'Repr-Digest'] },
      ],
      refusals: REFUSALS,
    },
  },
  {
    path: '/snapshots/{snapshot_id}/package.tar',
    get: {
      id: 'getPackage',
      tag: 'snapshots',
      summary: 'Read the whole package as one archive',
      description:
        'A POSIX tar archive with the files of the package, byte for byte, in a directory named by the id. Every byte is ' +
        'proven before the first one leaves; one that stops matching on the way breaks the connection.',
      parameters: ['SnapshotId', ...CONDITIONS],
      successes: [
        {
          status: 200,
          description: 'The archive',
          headers: ['ETag', 'Accept-Ranges', 'Content-Disposition'],
          content: { mediaType: TAR_MEDIA_TYPE },
        },
        { status: 304, description: UNCHANGED, headers: ['ETag', 'Accept-Ranges'] },
      ],
      refusals: REFUSALS,
    },
  },
];
