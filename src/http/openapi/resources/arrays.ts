/** One array of a snapshot, raw or as a .npy file. */
import { NPY_MEDIA_TYPE } from '../../../contract/npy.ts';
import type { HeaderName } from '../headers.ts';
import type { Operation, Resource, Success } from '../operation.ts';
import { CONDITIONS, UNCHANGED } from './snapshot.ts';

function successes(
  mediaType: string,
  given: Pick<Success, 'headers' | 'optionalHeaders'>,
): readonly Success[] {
  const content = { mediaType };
  const headers = given.headers ?? [];
  return [
    { ...given, status: 200, description: 'Every byte', content },
    { ...given, status: 206, description: 'The range', headers: [...headers, 'Content-Range'], content },
    { status: 304, description: UNCHANGED, headers },
  ];
}

function operation(given: Pick<Operation, 'id' | 'summary' | 'description' | 'successes'>): Operation {
  return {
    ...given,
    tag: 'snapshots',
    parameters: ['SnapshotId', 'ArrayKey', ...CONDITIONS, 'Range', 'IfRange', 'WantReprDigest'],
    refusals: [
      'invalid_snapshot_id',
      'snapshot_not_found',
      'array_not_found',
      'not_found',
      'precondition_failed',
      'range_not_satisfiable',
      'storage_integrity',
      'unsupported_package',
    ],
  };
}

const HEADERS: readonly HeaderName[] = [
  'ETag',
  'Array-Dtype',
  'Array-Count',
  'Array-Endianness',
  'Accept-Ranges',
  'Content-Disposition',
];

export const arrayResources: readonly Resource[] = [
  {
    path: '/snapshots/{snapshot_id}/array-{key}.bin',
    get: operation({
      id: 'getArray',
      summary: 'Read an array as raw bytes',
      description:
        'Little-endian, exactly as stored. Marker, manifest, inventory, all sizes and the SHA-256 of this array are proven ' +
        'before the first byte leaves, also for a range; bytes that stop matching on the way break the connection.',
      successes: successes('application/octet-stream', { headers: [...HEADERS, 'Repr-Digest'] }),
    }),
  },
  {
    path: '/snapshots/{snapshot_id}/array-{key}.npy',
    get: operation({
      id: 'getArrayAsNpy',
      summary: 'Read an array as a .npy file',
      description:
        'The same bytes behind a header that numpy.load takes; the same proofs before the first byte.',
      successes: successes(NPY_MEDIA_TYPE, { headers: HEADERS, optionalHeaders: ['Repr-Digest'] }),
    }),
  },
];
