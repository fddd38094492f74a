/** The version of this package, as its package.json has it: for `--version` and the OpenAPI document. */
import { existsSync, readFileSync } from 'node:fs';

/** Two levels up from `dist/src`, one from `src`. */
const PACKAGE_FILES = ['../../package.json', '../package.json'];

export function packageVersion(): string {
  const file = PACKAGE_FILES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (file === undefined) throw new Error('The package has lost its package.json.');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
