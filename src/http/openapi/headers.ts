/** `components.headers`: every header that an answer of the service may carry. */
import { DTYPE_NAMES } from '../../contract/dtypes.ts';
import { ENDIANNESS } from '../../contract/documents.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';
import type { JsonObject } from './components.ts';

interface Header {
  readonly description: string;
  /** In every answer that names the header. */
  readonly required: boolean;
  readonly schema: JsonObject;
  readonly example: string | number;
}

const SHA256_BASE64 = '^sha-256=:[A-Za-z0-9+/]{43}=:$';
const text = { type: 'string' } as const;
const whole = { type: 'integer', minimum: 0 } as const;
const DIGEST_EXAMPLE = 'sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:';

export const HEADERS = {
  ETag: {
    description:
      'A strong entity tag made of the SHA-256 of the bytes (of a package.tar, a .npy file and what is compressed: of what they are made of). ' +
      'It never changes for a published snapshot.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}(\\.(npy|tar|gz))?"$' },
    example: '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"',
  },
  'Repr-Digest': {
    description:
      'SHA-256 of the whole representation (RFC 9530), also with a range and a HEAD. It is sent whatever Want-Repr-Digest ' +
      'says; only a .npy file has it just where it is asked for.',
    required: true,
    schema: { type: 'string', pattern: SHA256_BASE64 },
    example: DIGEST_EXAMPLE,
  },
  Location: {
    description: 'The path of the snapshot that was published',
    required: true,
    schema: { type: 'string', pattern: '/snapshots/[0-9a-f]{32}$' },
    example: '/snapshots/0123456789abcdef0123456789abcdef',
  },
  Link: {
    description:
      'RFC 8288: predecessor-version for the parent, item for each array (of up to 64 arrays) and related for the ' +
      'intent.json of a snapshot; next for the next page of a listing',
    required: false,
    schema: text,
    example: '</snapshots/0123456789abcdef0123456789abcdef/array-ids.bin>; rel="item"',
  },
  'Array-Dtype': {
    description: 'Type of the elements',
    required: true,
    schema: { type: 'string', enum: DTYPE_NAMES },
    example: 'uint64',
  },
  'Array-Count': {
    description: 'Elements, decimal',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '3',
  },
  'Array-Endianness': {
    description: 'Byte order of the elements',
    required: true,
    schema: { type: 'string', const: ENDIANNESS },
    example: ENDIANNESS,
  },
  'Accept-Ranges': {
    description: 'bytes where a Range can be asked for, none where not',
    required: true,
    schema: { type: 'string', enum: ['bytes', 'none'] },
    example: 'bytes',
  },
  'Content-Range': {
    description: 'Which bytes of how many these are; `bytes */<length>` in a 416',
    required: true,
    schema: { type: 'string', pattern: '^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$' },
    example: 'bytes 0-7/24',
  },
  'Content-Disposition': {
    description: 'The file name to save under',
    required: true,
    schema: { type: 'string', pattern: '^attachment; filename="[a-z0-9_.-]+"$' },
    example: 'attachment; filename="array-ids.bin"',
  },
  'Content-Length': {
    description: 'Bytes of the content; a HEAD says those of the GET',
    required: false,
    schema: whole,
    example: 24,
  },
  Vary: {
    description: 'The headers of the request that decide what is sent',
    required: true,
    schema: text,
    example: 'accept-encoding',
  },
  'Content-Encoding': {
    description: 'Only files of the page are ever compressed, for whoever takes that',
    required: false,
    schema: { type: 'string', const: 'gzip' },
    example: 'gzip',
  },
  'Cache-Control': {
    description:
      'A copy may be kept but is to be asked for anew: every answer is proven anew. Refusals and probes are never kept.',
    required: false,
    schema: text,
    example: 'private, no-cache',
  },
  Allow: {
    description: 'The methods that can be used here',
    required: true,
    schema: text,
    example: 'GET, HEAD',
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'How to send the token (RFC 6750)',
    required: true,
    schema: text,
    example: 'Bearer realm="pipewhy-snapshots"',
  },
  'Last-Modified': {
    description: 'When the file was changed',
    required: false,
    schema: text,
    example: 'Fri, 01 May 2026 12:00:00 GMT',
  },
  'X-Content-Type-Options': security('x-content-type-options', 'The Content-Type is meant'),
  'X-Frame-Options': security('x-frame-options', 'No page may frame this'),
  'Referrer-Policy': security('referrer-policy', 'The address is given to nobody'),
  'Cross-Origin-Resource-Policy': security('cross-origin-resource-policy', 'No other site may embed this'),
  'Content-Security-Policy': {
    description: 'What a browser may load and run: nothing, but for pages their own files',
    required: true,
    schema: { type: 'string', pattern: "^default-src 'none'; " },
    example: SECURITY_HEADERS['content-security-policy'],
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

/** Of every answer, whatever it is. */
export const COMMON_HEADERS: readonly HeaderName[] = [
  'Cache-Control',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'Referrer-Policy',
  'Cross-Origin-Resource-Policy',
  'Content-Security-Policy',
];

function security(
  name: Exclude<keyof typeof SECURITY_HEADERS, 'content-security-policy'>,
  description: string,
): Header {
  const value = SECURITY_HEADERS[name];
  return { description, required: true, schema: { type: 'string', const: value }, example: value };
}

export function headerComponents(): Record<string, JsonObject> {
  return Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, { ...header }]));
}

export function headerRefs(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
