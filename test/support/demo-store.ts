/** A store as somebody may have it: captures of a package list, with forks, gaps, damage and attempts that ended. */
import fs from 'node:fs';
import { join } from 'node:path';

import type { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { metadataOf } from './example.ts';
import { flip } from './package-damage.ts';
import { pattern, packagePath } from './stores.ts';

const DAY_NS = 86_400_000_000_000n;
const START_NS = 1_788_220_800_000_000_123n;

/** 32 hex digits that look like those of a generator, and are the same each time. */
export function demoId(number: number): string {
  return Buffer.from(pattern(16, number * 7919 + 17)).toString('hex');
}

export interface Demo {
  /** From the first capture to the last; each but the first and the fork's names the one before as its parent. */
  readonly line: readonly string[];
  readonly fork: string;
  readonly orphan: string;
  readonly partial: string;
  readonly unavailable: string;
  readonly damaged: string;
}

/** A number from 0 to 1 that is the same for the same arguments. */
function chance(...numbers: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const number of numbers) {
    state = Math.imul(state ^ (number + 0x7f4a7c15), 0x85ebca6b);
    state ^= state >>> 13;
  }
  return (Math.imul(state ^ (state >>> 16), 0xc2b2ae35) >>> 0) / 2 ** 32;
}

/** Columns of a package list: each month some packages come, a few go, and most counts stay. */
function columns(month: number) {
  const packages = Array.from({ length: 4_000 + month * 3 }, (_, number) => number).filter(
    (number) => number % 401 !== 7 * month,
  );
  const ids = BigInt64Array.from(packages, (number) => BigInt(number) * 16n - 8_000n);
  const downloads = BigUint64Array.from(packages, (number) => {
    const usual = Math.floor(Math.exp(4 + 3 * (chance(number, 1) + chance(number, 2) + chance(number, 3))));
    return BigInt(usual + (chance(number, 4, month) < 0.03 ? month * 100 + 7 : 0));
  });
  const lengths = Uint16Array.from(
    packages,
    (number) => 4 + Math.floor((chance(number, 5) + chance(number, 6) + chance(number, 7)) * 9),
  );
  const valid = Uint8Array.from(packages, (number) => (chance(number, 8) < 0.97 ? 1 : 0));
  return { downloads, downloads_validity: valid, ids, name_length: lengths };
}

/** Fills an empty store; `root` is where it lies. */
export async function fillDemo(store: LocalSnapshotStore, root: string): Promise<Demo> {
  const capture = (month: number, changes: Record<string, unknown> = {}) => {
    const finished = START_NS + BigInt(month) * 30n * DAY_NS;
    const rows = String(columns(month).ids.length);
    return metadataOf(demoId(month), {
      source_namespace: 'npm.packages',
      source_version: `2026-${String(month + 1).padStart(2, '0')}`,
      scope: 'first 4000 rows of a package list, by name',
      started_at_ns: String(finished - 1_750_000_000n),
      finished_at_ns: String(finished),
      resolution: 'value',
      coverage: { status: 'COMPLETE', expected_records: rows, returned_records: rows, failure_reasons: [] },
      ...changes,
    });
  };
  const line: string[] = [];
  for (let month = 0; month < 6; month += 1) {
    await store.publish(capture(month, { parent_id: line.at(-1) ?? null }), columns(month));
    line.push(demoId(month));
  }
  const fork = demoId(20);
  const forked = START_NS + 95n * DAY_NS;
  await store.publish(
    capture(3, {
      snapshot_id: fork,
      parent_id: line[2],
      source_version: '2026-04 again',
      started_at_ns: String(forked - 9_000_000_000n),
      finished_at_ns: String(forked),
    }),
    columns(9),
  );
  const partial = demoId(21);
  await store.publish(
    capture(4, {
      snapshot_id: partial,
      source_namespace: 'warehouse.sales',
      scope: 'orders of the eastern region',
      resolution: 'record',
      coverage: {
        status: 'PARTIAL',
        expected_records: '18000',
        returned_records: '12480',
        failure_reasons: ['shard 3 did not answer within 30 s', 'shard 7 was being moved'],
      },
    }),
    { ids: BigInt64Array.from({ length: 12_480 }, (_, row) => BigInt(row) * 3n) },
  );
  const unavailable = demoId(22);
  await store.publish(
    capture(5, {
      snapshot_id: unavailable,
      source_namespace: 'warehouse.sales',
      scope: 'orders of the eastern region',
      resolution: 'dataset',
      coverage: {
        status: 'UNAVAILABLE',
        expected_records: null,
        returned_records: '0',
        failure_reasons: ['the source refused the connection'],
      },
    }),
    {},
  );
  const orphan = demoId(23);
  const lost = demoId(24);
  const lostCapture = { source_namespace: 'inventory.parts', source_version: 'r12', scope: 'all parts' };
  await store.publish(capture(1, { snapshot_id: lost, ...lostCapture }), { ids: new Uint32Array([1, 2, 3]) });
  await store.publish(capture(2, { snapshot_id: orphan, parent_id: lost, ...lostCapture }), {
    ids: new Uint32Array([1, 2, 3, 5]),
  });
  fs.rmSync(packagePath(root, lost), { recursive: true });
  const damaged = demoId(25);
  await store.publish(capture(3, { snapshot_id: damaged, ...lostCapture, source_version: 'r14' }), {
    ids: new Uint32Array([1, 2, 3, 5, 8]),
  });
  flip(120)(packagePath(root, damaged, 'manifest.json'));
  leaveAttempts(root);
  return { line, fork, orphan, partial, unavailable, damaged };
}

/** What publications that were cut short leave. */
function leaveAttempts(root: string): void {
  const attempt = (number: number, files: Readonly<Record<string, string | Uint8Array>>): void => {
    const directory = join(root, 'staging', demoId(number));
    fs.mkdirSync(directory, { recursive: true });
    for (const [name, bytes] of Object.entries(files)) fs.writeFileSync(join(directory, name), bytes);
  };
  attempt(31, {
    'intent.json': `{"snapshot_id":"${demoId(41)}"}`,
    'array-ids.bin': pattern(48_000),
  });
  attempt(32, { 'array-ids.bin': pattern(64) });
}
