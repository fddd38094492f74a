/** The C3 declarations for commands that work on a store without a service (CONTRACT, section 1). */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseDeclarations, type Declarations } from '../contract/contexts.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { declarationsRefusal } from '../declarations-file.ts';
import { UsageError } from './exit-codes.ts';

/** Shipped with the package; three levels up from `dist/src/cli`, two from `src/cli`. */
const EXAMPLES = ['../../../examples/contexts.json', '../../examples/contexts.json'];

/** From `path`, else from SNAPSHOTS_CONTEXTS, else the shipped example with a warning. Throws `UsageError`. */
export async function loadDeclarations(
  path: string | undefined,
  warn: (line: string) => void,
): Promise<Declarations> {
  const given = path ?? process.env['SNAPSHOTS_CONTEXTS'];
  if (given !== undefined && given !== '') return parse(given, await read(given));
  for (const example of EXAMPLES) {
    const file = fileURLToPath(new URL(example, import.meta.url));
    const bytes = await readFile(file).catch(() => null);
    if (bytes === null) continue;
    warn('No declarations are given (--contexts or SNAPSHOTS_CONTEXTS): the shipped example is in force.');
    return parse(file, bytes);
  }
  throw new UsageError('no declarations: name a file with --contexts or SNAPSHOTS_CONTEXTS');
}

async function read(path: string): Promise<Uint8Array> {
  return readFile(path).catch((error: unknown) => {
    throw new UsageError(declarationsRefusal(path, error));
  });
}

function parse(path: string, bytes: Uint8Array): Declarations {
  try {
    return parseDeclarations(bytes);
  } catch (error) {
    if (!isAnySnapshotError(error)) throw error;
    throw new UsageError(declarationsRefusal(path, error));
  }
}
