/** `completion`: shell scripts, generated from the commands themselves. */
import { Argument, type Command } from 'commander';
import { newCompletion, SHELLS, type Shell } from '../completions.ts';
import { print } from '../output.ts';
import { Command as PlainCommand } from 'commander';

export function completionCommand(): Command {
  return new PlainCommand('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(pipewhy-snapshots completion bash)
  pipewhy-snapshots completion zsh > "\${fpath[1]}/_pipewhy-snapshots"
  pipewhy-snapshots completion fish > ~/.config/fish/completions/pipewhy-snapshots.fish`,
    )
    .action((shell: Shell, _options: object, command: Command) => {
      print(newCompletion(shell, command.parent ?? command));
    });
}
