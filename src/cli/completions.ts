/** Completion scripts for a tree of commands, one function per shell. */
import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, (program: Command) => string>> = { bash, zsh, fish };

export function newCompletion(shell: Shell, program: Command): string {
  return SCRIPTS[shell](program);
}

/** Where ids and arrays may stand, which the service is asked for: arguments of a verb, or the value of a flag of it. */
export const ASKED: ReadonlySet<string> = new Set(['get', 'show', 'log', 'diff', 'ls --parent']);

interface Described {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** Words that an argument may be. */
  readonly choices: readonly string[];
}

function commandsOf(program: Command): readonly Described[] {
  const help = program.createHelp();
  return help.visibleCommands(program).map((command) => ({
    name: command.name(),
    description: command.description(),
    options: help.visibleOptions(command),
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  }));
}

function flagsOf({ options }: Described): readonly string[] {
  return options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined));
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** In single quotes, for any of the three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The whole line, as its words break at the colon of a URL. */
const BASH_ASK = '$("${COMP_WORDS[0]}" complete "${line:0:${COMP_POINT:-${#line}}}" 2>/dev/null)';

function bash(program: Command): string {
  const name = program.name();
  const commands = commandsOf(program);
  const values = commands.flatMap((command) =>
    command.options.flatMap((option) => {
      if (!takesValue(option)) return [];
      return [option.short, option.long]
        .filter((flag) => flag !== undefined)
        .map((flag) => {
          const place = `${command.name} ${flag}`;
          // Without a list of words the shell completes file names.
          const words = ASKED.has(place) ? BASH_ASK : quoted((option.argChoices ?? []).join(' '));
          return `    ${quoted(place)}) words=${words} ;;`;
        });
    }),
  );
  const words = commands.map((command) => {
    const known = quoted([...flagsOf(command), ...command.choices].join(' '));
    // Nobody is asked for flags.
    const asked = ASKED.has(command.name) ? `; [[ $current == -* ]] || words+=" "${BASH_ASK}` : '';
    return `        ${command.name}) words=${known}${asked} ;;`;
  });
  return `# bash completion for ${name}
_pipewhy_snapshots() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' line="\${COMP_LINE:-\${COMP_WORDS[*]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W ${quoted(commands.map((command) => command.name).join(' '))} -- "$current")
    return
  fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${words.join('\n')}
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _pipewhy_snapshots ${name}`;
}

const ZSH_ASK = '_pipewhy_snapshots_ask';

function zsh(program: Command): string {
  const name = program.name();
  const escaped = (text: string): string => text.replace(/[[\]:\\]/gu, (char) => `\\${char}`);
  const commands = commandsOf(program);
  const cases = commands.map((command) => {
    const specs = command.options.map((option) => {
      const { short, long, description, argChoices } = option;
      const flags = [short, long].filter((flag) => flag !== undefined);
      const asked = ASKED.has(`${command.name} ${option.long ?? ''}`) ? ZSH_ASK : '_files';
      const action = argChoices === undefined ? asked : `(${argChoices.join(' ')})`;
      const value = takesValue(option) ? `:${escaped(option.attributeName())}:${action}` : '';
      return flags.map((flag) => quoted(`${flag}[${escaped(description)}]${value}`)).join(' ');
    });
    const others = ASKED.has(command.name) ? ZSH_ASK : '_files';
    const rest = command.choices.length === 0 ? others : `(${command.choices.join(' ')})`;
    return `    ${command.name}) _arguments ${[...specs, quoted(`*:argument:${rest}`)].join(' ')} ;;`;
  });
  return `#compdef ${name}
${ZSH_ASK}() {
  local -a found=(\${(f)"$(\${asked[1]} complete "\${(j: :)asked}" 2>/dev/null)"})
  compadd -a found
}
_pipewhy_snapshots() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map((command) => quoted(`${command.name}:${escaped(command.description)}`)).join(' ')})
    _describe command commands
    return
  fi
  local command=$words[2]
  local -a asked=("\${(@)words[1,CURRENT]}")
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_pipewhy-snapshots" ]; then _pipewhy_snapshots "$@"; else compdef _pipewhy_snapshots ${name}; fi`;
}

function fishAsk(name: string): string {
  return `(${name} complete (commandline -cp | string collect) 2>/dev/null)`;
}

function fish(program: Command): string {
  const name = program.name();
  const lines = commandsOf(program).flatMap((command) => [
    `complete -c ${name} -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(command.description)}`,
    ...command.options.map((option) => {
      const flags = [
        option.short === undefined ? '' : ` -s ${option.short.slice(1)}`,
        option.long === undefined ? '' : ` -l ${option.long.slice(2)}`,
      ].join('');
      const isAsked = ASKED.has(`${command.name} ${option.long ?? ''}`);
      const words = isAsked ? fishAsk(name) : option.argChoices?.join(' ');
      const choices = words === undefined ? '' : ` -f -a ${quoted(words)}`;
      const value = takesValue(option) ? ` -r${choices}` : '';
      return `complete -c ${name} -n ${seen(command)}${flags}${value} -d ${quoted(option.description)}`;
    }),
    ...(command.choices.length === 0
      ? []
      : [`complete -c ${name} -n ${seen(command)} -f -a ${quoted(command.choices.join(' '))}`]),
    ...(ASKED.has(command.name)
      ? [`complete -c ${name} -n ${seen(command)} -f -a ${quoted(fishAsk(name))}`]
      : []),
  ]);
  return [`# fish completion for ${name}`, ...lines].join('\n');
}

function seen({ name }: Described): string {
  return quoted(`__fish_seen_subcommand_from ${name}`);
}
