/** All sub-commands of `pipewhy-snapshots`. */
import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { completionCommand } from './commands/completion.ts';
import { getCommand } from './commands/get.ts';
import { incompleteCommand } from './commands/incomplete.ts';
import { lsCommand } from './commands/ls.ts';
import { publishCommand } from './commands/publish.ts';
import { showCommand } from './commands/show.ts';
import { verifyCommand } from './commands/verify.ts';
import { serveCommand } from './serve.ts';

/** Three levels up from `dist/src/cli`, two from `src/cli`. */
const PACKAGE_FILES = ['../../../package.json', '../../package.json'];

export function buildProgram(): Command {
  return new Command('pipewhy-snapshots')
    .description('Immutable, checksummed snapshots of integer arrays')
    .version(packageVersion())
    .addCommand(serveCommand())
    .addCommand(publishCommand())
    .addCommand(getCommand())
    .addCommand(lsCommand())
    .addCommand(showCommand())
    .addCommand(verifyCommand())
    .addCommand(incompleteCommand())
    .addCommand(completionCommand())
    .addHelpText(
      'after',
      `
Examples:
  pipewhy-snapshots serve --root ./data
  pipewhy-snapshots publish --metadata snapshot.json ids=ids.bin:int64
  pipewhy-snapshots ls
  pipewhy-snapshots verify ./data`,
    );
}

function packageVersion(): string {
  const file = PACKAGE_FILES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (file === undefined) throw new Error('The package has lost its package.json.');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
