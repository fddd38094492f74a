/** The declarations and the metadata that tests start from. */
import type { Declarations } from '../../src/contract/contexts.ts';

export const declarations: Declarations = {
  algorithms: [{ name: 'example-fingerprint', id: 'example-fingerprint/1' }],
  contexts: [
    {
      context_id: 'example-context',
      algorithm_id: 'example-fingerprint/1',
      normalization_profile_id: 'example-normalization/1',
      source_schema_id: 'example-schema/1',
      mode: 'ordered',
    },
  ],
};

/** A snapshot id whose last digits are `number`. */
export function idOf(number: number): string {
  return number.toString(16).padStart(32, '0');
}

export function metadataOf(id: string, changes: Record<string, unknown> = {}) {
  return {
    snapshot_id: id,
    parent_id: null as string | null,
    source_namespace: 'warehouse.sales',
    source_version: 'v1',
    source_consistency: 'single-query',
    scope: 'all rows',
    started_at_ns: '1761782400000000000',
    finished_at_ns: '1761782401000000001',
    resolution: 'record',
    coverage: {
      status: 'COMPLETE',
      expected_records: '3' as string | null,
      returned_records: '3',
      failure_reasons: [] as string[],
    },
    fingerprint: {
      algorithm_name: 'example-fingerprint',
      algorithm_id: 'example-fingerprint/1',
      context_id: 'example-context',
      normalization_profile_id: 'example-normalization/1',
      source_schema_id: 'example-schema/1',
      mode: 'ordered',
    },
    ...changes,
  };
}
