/** A small store whose snapshots have parents, and runs of `mirror` with what is found afterwards. */
import fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { temporaryDirectory } from '../client/running-service.ts';
import { idOf, makeRoot, pattern, publishExample, storeAt } from '../support/stores.ts';
import { run, type RunOptions } from './command.ts';

const MIB = 1024 * 1024;

/** Parents have greater ids than their children, in a line of four and a fork; `LARGE` is not sent in one piece. */
export const [ROOT, CHILD, GRANDCHILD, LAST, FORK, LARGE, EMPTY] = [9, 7, 5, 3, 4, 6, 8].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
export const ALL = [ROOT, CHILD, GRANDCHILD, LAST, FORK, LARGE, EMPTY].sort();

/** The root of a store with all of them; the caller removes it. */
export async function makeOrigin(): Promise<string> {
  const root = makeRoot();
  const store = storeAt(root);
  const of = (parent: string | null, changes: Record<string, unknown> = {}) => ({
    parent_id: parent,
    ...changes,
  });
  await publishExample(
    store,
    ROOT,
    { ids: BigInt64Array.of(-1n, 2n), constructor: Uint8Array.of(1) },
    of(null),
  );
  await publishExample(store, CHILD, { ids: Int16Array.of(1) }, of(ROOT, { source_namespace: 'other' }));
  await publishExample(store, GRANDCHILD, { none: new Uint32Array() }, of(CHILD));
  await publishExample(
    store,
    LAST,
    { ids: pattern(1000) },
    of(GRANDCHILD, { finished_at_ns: '1893456000000000000' }),
  );
  await publishExample(store, FORK, { ids: pattern(1001) }, of(CHILD));
  await publishExample(store, LARGE, { ids: pattern(5 * MIB + 3), more: pattern(2 * MIB, 2) }, of(null));
  await publishExample(store, EMPTY, {}, of(null));
  await store.close();
  return root;
}

/** A copy of a store, to be damaged. */
export function copyOf(origin: string): string {
  const root = newRoot();
  fs.cpSync(origin, root, { recursive: true });
  return root;
}

/** Where no store is yet. */
export function newRoot(): string {
  return join(temporaryDirectory(), 'root');
}

/** The declarations of the example, as a file. */
export const CONTEXTS = fileURLToPath(new URL('../vectors/contexts.json', import.meta.url));

export function mirror(
  from: string,
  to: string,
  args: readonly string[] = [],
  { env = {}, ...options }: RunOptions = {},
) {
  return run(['mirror', from, to, ...args], { env: { SNAPSHOTS_CONTEXTS: CONTEXTS, ...env }, ...options });
}

export interface Report {
  readonly complete: boolean;
  readonly dry_run: boolean;
  readonly copied: readonly { readonly snapshot_id: string }[];
  readonly equal: number;
  readonly not_tried: number;
  readonly problems: readonly {
    readonly snapshot_id: string;
    readonly side: string;
    readonly code: string;
    readonly detail: string;
  }[];
}

/** The exit status and the report of a run with `--json`. */
export async function mirrored(
  from: string,
  to: string,
  args: readonly string[] = [],
  options: RunOptions = {},
) {
  const { code, out, err } = await mirror(from, to, [...args, '--json'], options);
  if (out === '') throw new Error(`No report: ${err}`);
  const report = JSON.parse(out) as Report;
  return { code, report, ids: report.copied.map(({ snapshot_id: id }) => id), err };
}

/** Every file of every package, by its path. */
export function packagesOf(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  const room = join(root, 'snapshots');
  if (!fs.existsSync(room)) return files;
  for (const id of fs.readdirSync(room)) {
    for (const name of fs.readdirSync(join(room, id))) {
      files[`${id}/${name}`] = fs.readFileSync(join(room, id, name)).toString('base64');
    }
  }
  return files;
}

export function idsOf(root: string): string[] {
  return fs.readdirSync(join(root, 'snapshots')).sort();
}
