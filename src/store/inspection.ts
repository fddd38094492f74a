/** The page of /incomplete: attempts in staging, in the order of their names. */
import pMap from 'p-map';
import type { IncompleteAttempt } from '../contract/listings.ts';

export interface IncompleteQuery {
  readonly limit?: number;
  /** Only entries whose name comes after this one. */
  readonly after?: string;
}

export interface IncompleteListing {
  readonly incomplete: readonly IncompleteAttempt[];
  readonly next: string | null;
}

/** Attempts judged per task: enough to keep a thread busy, few enough to spread over all. */
const BATCH = 32;

export async function inspectIncomplete(
  names: readonly string[],
  query: IncompleteQuery,
  parallelism: number,
  inspect: (names: readonly string[]) => Promise<readonly IncompleteAttempt[]>,
): Promise<IncompleteListing> {
  const { after, limit } = query;
  const wanted = names.filter((name) => after === undefined || name > after).sort();
  const page = limit === undefined ? wanted : wanted.slice(0, limit);
  const batches: string[][] = [];
  for (let at = 0; at < page.length; at += BATCH) batches.push(page.slice(at, at + BATCH));
  const judged = await pMap(batches, inspect, { concurrency: parallelism });
  return { incomplete: judged.flat(), next: page.length < wanted.length ? (page.at(-1) ?? null) : null };
}
