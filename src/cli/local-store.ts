/** A store on disk without a service: only looked at, never changed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDeclarations, type Declarations } from '../contract/contexts.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { declarationsRefusal } from '../declarations-file.ts';
import { SNAPSHOTS } from '../store/layout.ts';
import { LocalSnapshotStore } from '../store/local-snapshot-store.ts';
import { reasonOf, wrongUse } from './errors.ts';
import { note } from './output.ts';

export interface LocalStore {
  readonly store: LocalSnapshotStore;
  /** The names of all entries of `snapshots/`, in order. */
  readonly names: readonly string[];
}

/** The caller closes the store. Throws `CommandError` if there is none at `root`, or the declarations cannot be used. */
export async function openLocalStore(
  root: string,
  contexts: string | undefined,
  threads: number | 'auto' = 'auto',
): Promise<LocalStore> {
  const declarations = await loadDeclarations(contexts);
  const names = await readdir(join(root, SNAPSHOTS)).catch((error: unknown) => {
    throw wrongUse(`${root} is no store: its directory ${SNAPSHOTS} cannot be listed (${reasonOf(error)})`);
  });
  return { store: new LocalSnapshotStore(root, { declarations, threads }), names: names.sort() };
}

/** Shipped with the package; three levels up from `dist/src/cli`, two from `src/cli`. */
const EXAMPLES = ['../../../examples/contexts.json', '../../examples/contexts.json'];

/** The file that is named for the declarations; null where none is. */
export function namedDeclarations(path: string | undefined): string | null {
  const given = path ?? process.env['SNAPSHOTS_CONTEXTS'];
  return given === undefined || given === '' ? null : given;
}

/** From `path`, else from SNAPSHOTS_CONTEXTS, else the shipped example with a warning. Throws `CommandError`. */
export async function loadDeclarations(path: string | undefined): Promise<Declarations> {
  const given = namedDeclarations(path);
  if (given !== null) return parse(given, await read(given));
  for (const example of EXAMPLES) {
    const file = fileURLToPath(new URL(example, import.meta.url));
    const bytes = await readFile(file).catch(() => null);
    if (bytes === null) continue;
    note('No declarations are given (--contexts or SNAPSHOTS_CONTEXTS): the shipped example is in force.');
    return parse(file, bytes);
  }
  throw wrongUse('no declarations: name a file with --contexts or SNAPSHOTS_CONTEXTS');
}

async function read(path: string): Promise<Uint8Array> {
  return readFile(path).catch((error: unknown) => {
    throw wrongUse(declarationsRefusal(path, error));
  });
}

function parse(path: string, bytes: Uint8Array): Declarations {
  try {
    return parseDeclarations(bytes);
  } catch (error) {
    if (!isAnySnapshotError(error)) throw error;
    throw wrongUse(declarationsRefusal(path, error));
  }
}
