/** `completion`: shell scripts, generated from the commands themselves. */
import { Argument, type Command } from 'commander';
import { newCompletion, SHELLS, type Shell } from '../completions.ts';
import { print } from '../output.ts';

export function define(completion: Command): Command {
  return completion
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(pipewhy-snapshots completion bash)
  pipewhy-snapshots completion zsh > "\${fpath[1]}/_pipewhy-snapshots"
  pipewhy-snapshots completion fish > ~/.config/fish/completions/pipewhy-snapshots.fish

Ids and the arrays of a snapshot are asked of the service of the --url or --socket on the line, or of SNAPSHOTS_URL; where
none answers within half a second, none are offered.`,
    )
    .action((shell: Shell, _options: object, command: Command) => {
      print(newCompletion(shell, command.parent ?? command));
    });
}
