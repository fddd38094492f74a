/** One run of the command: words in, an exit status out. */
import { CommanderError, type Command } from 'commander';
import { CommandError, exitStatusOf, reportError, statusOf, wrongUse } from './errors.ts';
import { guardOutputs, writeNote, writeText } from './output.ts';
import { buildProgram } from './program.ts';

type StartRefusal = (error: unknown) => string | undefined;

const HINT = '(run with --help for what there is)';
const words = process.argv.slice(2);
/** Asked for before anything is parsed: what cannot be parsed is told in the same form. */
const json = words.slice(0, [...words, '--'].indexOf('--')).includes('--json');

/** @param startRefusal what to say of a failure that the system or the installation is the reason of */
export async function run(startRefusal: StartRefusal): Promise<void> {
  guardOutputs(json);
  try {
    const program = await buildProgram(words);
    prepare(program);
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : statusOf('usage');
      const sentence = error.message.replace(/^error: /u, '').replaceAll('\n', ' ');
      if (json && error.exitCode !== 0) reportError(wrongUse(sentence), json);
    } else {
      const told = await asCommandError(error, startRefusal);
      reportError(told, json);
      if (!json && exitStatusOf(told) === statusOf('usage')) writeNote(`${HINT}\n`);
      // A service that could not start, or say where it is, must not go on.
      process.exit(exitStatusOf(told));
    }
  }
}

/** Wrong flags end with 2 on every level of the command tree; commander's own status would be 1. */
function prepare(command: Command): void {
  command.showSuggestionAfterError(true).exitOverride();
  command.configureOutput({
    writeOut: writeText,
    writeErr: writeNote,
    ...(json ? { outputError: () => undefined } : {}),
  });
  if (!json) command.showHelpAfterError(HINT);
  for (const child of command.commands) prepare(child);
}

/** Only failures of the service come here: they are one clear line, and so is what nobody foresaw. */
async function asCommandError(error: unknown, startRefusal: StartRefusal): Promise<unknown> {
  const refusal = startRefusal(error);
  if (refusal !== undefined) return new CommandError('failed', refusal);
  const [{ ConfigError }, { UnusableRootError }] = await Promise.all([
    import('../config.ts'),
    import('../store/root.ts'),
  ]);
  if (error instanceof ConfigError) return new CommandError(error.usage ? 'usage' : 'failed', error.message);
  if (error instanceof UnusableRootError) return new CommandError('failed', error.message);
  return error;
}
