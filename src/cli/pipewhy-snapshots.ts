#!/usr/bin/env -S MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_TOP_PAD_=67108864 MALLOC_MMAP_THRESHOLD_=134217728 node --max-semi-space-size=8
// The settings above keep glibc from returning the network's buffers to the system and faulting them in again, and V8 from
// letting tens of MiB of such buffers wait for its next collection: fewer of them at once stay in the processor's cache.
import { CommanderError, type Command } from 'commander';
import { ConfigError } from '../config.ts';
import { UnusableRootError } from '../store/root.ts';
import { UsageError } from './exit-codes.ts';
import { reportError } from './output.ts';
import { buildProgram } from './program.ts';

const USAGE = 2;
const HINT = '(run with --help for what there is)';
const words = process.argv.slice(2);
/** Asked for before anything is parsed: what cannot be parsed is told in the same form. */
const json = words.slice(0, [...words, '--'].indexOf('--')).includes('--json');

/** Wrong flags end with 2 on every level of the command tree; commander's own status would be 1. */
function exitWithUsage(command: Command): void {
  command.showSuggestionAfterError(true).exitOverride();
  if (json) command.configureOutput({ outputError: () => undefined });
  else command.showHelpAfterError(HINT);
  for (const child of command.commands) exitWithUsage(child);
}

const program = buildProgram();
exitWithUsage(program);
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    const sentence = error.message.replace(/^error: /u, '').replaceAll('\n', ' ');
    if (json && error.exitCode !== 0) reportError(new UsageError(sentence), json);
  } else if (error instanceof ConfigError || error instanceof UnusableRootError) {
    const usage = error instanceof ConfigError && error.usage;
    process.stderr.write(`pipewhy-snapshots: ${error.message}\n${usage ? `${HINT}\n` : ''}`);
    process.exit(usage ? USAGE : 1);
  } else {
    throw error;
  }
}
