/** How two snapshots differ, as the service that keeps both says (CONTRACT, section 5). */
import { comparison, type Comparison } from '../contract/comparison.ts';
import { isArrayKey, type ArrayKey, type SnapshotId } from '../contract/ids.ts';
import { Violations } from '../contract/violations.ts';
import { expectStatus, MAX_BYTES, readJson } from './answers.ts';
import { ProtocolError, refusedLocally } from './errors.ts';
import { snapshotPath } from './reads.ts';
import { retryingRead, type Transport } from './transport.ts';

export interface CompareOptions {
  /** Aligns rows by the values of this array, which must be unique on each side; by position without. */
  readonly key?: ArrayKey | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function fetchComparison(
  transport: Transport,
  from: SnapshotId,
  to: SnapshotId,
  { key, signal }: CompareOptions,
): Promise<Comparison> {
  // Checked as an id by itself first: each becomes part of the path.
  const path = `${snapshotPath(from)}/compare${snapshotPath(to).replace('/snapshots', '')}${queryOf(key)}`;
  return retryingRead(transport.retry, signal, async () => {
    const answer = await expectStatus(await transport.request(path, { signal }), 200);
    const found = checked(await readJson(answer, MAX_BYTES.comparison));
    if (found.from !== from || found.to !== to) throw against('it is one of other snapshots');
    if (found.rows?.key !== key) throw against('its rows are not aligned by the key that was asked for');
    return found;
  });
}

function queryOf(key: ArrayKey | undefined): string {
  if (key === undefined) return '';
  if (isArrayKey(key)) return `?key=${key}`;
  throw refusedLocally(
    'invalid_request',
    `An array key matches [a-z][a-z0-9_]{0,63}; found ${JSON.stringify(String(key)).slice(0, 80)}.`,
    {},
  );
}

/** Members that this version does not know are let through: a newer service may send them. */
function checked(document: unknown): Comparison {
  const violations = new Violations();
  if (comparison(document, '', violations) !== undefined) return document as Comparison;
  const [first] = violations.list();
  throw against(`${first?.path ?? ''} ${first?.message ?? 'is wrong'}`);
}

function against(message: string): ProtocolError {
  return new ProtocolError(`The comparison does not hold: ${message}.`, { status: 200 });
}
