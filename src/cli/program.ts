/** All sub-commands of `pipewhy-snapshots`. */
import { Command } from 'commander';
import { serveCommand } from './serve.ts';

export function buildProgram(): Command {
  return new Command('pipewhy-snapshots')
    .description('Immutable, checksummed snapshots of integer arrays')
    .addCommand(serveCommand());
}
