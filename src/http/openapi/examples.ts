/** Examples of the document. A test publishes the requests and holds the answers against those given here. */
import { canonicalText } from '../../contract/canonical-json.ts';
import { compareManifests } from '../../contract/comparison.ts';
import { sha256Hex } from '../../contract/digest.ts';
import { buildManifest, parseDraft, type Manifest } from '../../contract/manifest.ts';
import { parseStrictJson } from '../../contract/strict-json.ts';
import type { JsonObject } from './components.ts';

/** Three elements of uint8 that are also text, so that a document can show the payload. */
const CODES = 'abc';

export const FIRST_ID = '0123456789abcdef0123456789abcdef';
const SECOND_ID = '0123456789abcdef0123456789abcdf0';

const SNAPSHOT = {
  snapshot_id: FIRST_ID,
  parent_id: null,
  source_namespace: 'warehouse.sales',
  source_version: '2026-05-01',
  source_consistency: 'single-query',
  scope: 'all rows',
  started_at_ns: '1777600800000000000',
  finished_at_ns: '1777600801500000000',
  resolution: 'record',
  coverage: { status: 'COMPLETE', expected_records: '3', returned_records: '3', failure_reasons: [] },
  // The shipped examples/contexts.json declares it.
  fingerprint: {
    algorithm_name: 'example-fingerprint',
    algorithm_id: 'example-fingerprint/1',
    context_id: 'example-context',
    normalization_profile_id: 'example-normalization/1',
    source_schema_id: 'example-schema/1',
    mode: 'ordered',
  },
} as const;

export const FIRST_METADATA = { snapshot: SNAPSHOT, arrays: { codes: { dtype: 'uint8' } } } as const;

const SECOND_METADATA = {
  snapshot: {
    ...SNAPSHOT,
    snapshot_id: SECOND_ID,
    parent_id: FIRST_ID,
    source_version: '2026-05-02',
    coverage: {
      status: 'UNAVAILABLE',
      expected_records: null,
      returned_records: '0',
      failure_reasons: ['the source did not answer'],
    },
  },
  arrays: {},
} as const;

/** In this order each can be published in an empty store. */
export const PUBLICATIONS = {
  first: {
    summary: 'Three elements of one byte',
    description: 'The part "codes" is the array: the bytes 61 62 63.',
    value: { metadata: FIRST_METADATA, codes: CODES },
  },
  second: {
    summary: 'A successor without arrays, for a source that did not answer',
    value: { metadata: SECOND_METADATA },
  },
} as const;

const FIRST = manifestOf(FIRST_METADATA, CODES);

/** Made by the code that makes every manifest. */
export const FIRST_MANIFEST: JsonObject = JSON.parse(FIRST.text) as JsonObject;

/** Of the first two publications, which have no array in common. */
export const COMPARISON: JsonObject = compareManifests(
  FIRST_MANIFEST as Manifest,
  JSON.parse(manifestOf(SECOND_METADATA, '').text) as Manifest,
);

export const FIRST_MARKER = `${FIRST.sha256}\n`;

export const LISTING: JsonObject = {
  proof: 'all',
  snapshots: [
    {
      snapshot_id: FIRST_ID,
      parent_id: null,
      source_namespace: SNAPSHOT.source_namespace,
      source_version: SNAPSHOT.source_version,
      scope: SNAPSHOT.scope,
      resolution: SNAPSHOT.resolution,
      coverage_status: SNAPSHOT.coverage.status,
      started_at_ns: SNAPSHOT.started_at_ns,
      finished_at_ns: SNAPSHOT.finished_at_ns,
      array_count: 1,
      byte_length: String(CODES.length),
      manifest_sha256: FIRST.sha256,
    },
  ],
  next: null,
};

export const INCOMPLETE: JsonObject = {
  incomplete: [
    {
      path: 'staging/7d9f2c4be6a84f0f9f0c2f4a1f6f3b5e',
      snapshot_id: SECOND_ID,
      phase: 'STAGING',
      diagnostic: 'The attempt has an intent and no marker.',
      byte_length: '50',
      modified_at: '2026-05-02T12:00:00.000Z',
    },
  ],
  next: null,
};

export const DECLARATIONS: JsonObject = {
  algorithms: [{ name: SNAPSHOT.fingerprint.algorithm_name, id: SNAPSHOT.fingerprint.algorithm_id }],
  contexts: [
    {
      context_id: SNAPSHOT.fingerprint.context_id,
      algorithm_id: SNAPSHOT.fingerprint.algorithm_id,
      normalization_profile_id: SNAPSHOT.fingerprint.normalization_profile_id,
      source_schema_id: SNAPSHOT.fingerprint.source_schema_id,
      mode: SNAPSHOT.fingerprint.mode,
    },
  ],
};

function manifestOf(
  metadata: JsonObject,
  payload: string,
): { readonly text: string; readonly sha256: string } {
  const draft = parseDraft(parseStrictJson(Buffer.from(JSON.stringify(metadata))));
  const bytes = Buffer.from(payload);
  const seen = { byteLength: bytes.length, sha256: sha256Hex(bytes) };
  const { manifest, sha256 } = buildManifest(
    draft,
    Object.fromEntries(Object.keys(draft.arrays).map((key) => [key, seen])),
  );
  return { text: canonicalText(manifest), sha256 };
}
