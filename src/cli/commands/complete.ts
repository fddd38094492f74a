/** `complete`: for the completion scripts, the ids or arrays that may stand at the end of a command line. */
import type { Command, Option } from 'commander';
import { beginningWith, resolveId, withClient, type ConnectionOptions } from '../connection.ts';
import { ASKED } from '../completions.ts';
import { print } from '../output.ts';

/** Whoever presses a key waits for this: quickly, once, and silently where nothing comes. */
const PATIENCE = { timeouts: { connectMs: 300, headersMs: 500, bodyMs: 500 }, retry: false } as const;
const MOST_OFFERED = 100;

export function define(complete: Command): Command {
  return complete
    .argument('<line>', 'the command line up to the cursor')
    .action(async (line: string, _options: object, command: Command) => {
      const words = await wordsFor(line, command.parent ?? command).catch(() => []);
      for (const word of words) print(word);
    });
}

async function wordsFor(line: string, program: Command): Promise<readonly string[]> {
  // Quotes are not looked into: ids, keys and URLs need none.
  const [, name = '', ...words] = line.split(/\s+/u);
  const current = words.pop() ?? '';
  const verb = program.commands.find((command) => command.name() === name);
  if (verb === undefined) return [];
  const { operands, values, open } = parsed(words, verb.options);
  const place = open === null ? name : `${name} ${open}`;
  if (!ASKED.has(place)) return [];
  const [id] = operands;
  return withClient(
    connectionOf(values),
    async (client) => {
      if (open === null && operands.length > 0 && (name !== 'diff' || operands.length > 1)) {
        if (name !== 'get' || operands.length > 1 || id === undefined) return [];
        const { manifest } = await client.manifest(await resolveId(client, id));
        return Object.keys(manifest.arrays);
      }
      const ids = /^[0-9a-f]*$/u.test(current) ? await beginningWith(client, current, MOST_OFFERED) : [];
      return ['latest', ...ids.map((found) => found.id)];
    },
    PATIENCE,
  ).then((found) => found.filter((word) => word.startsWith(current)));
}

interface ParsedWords {
  readonly operands: readonly string[];
  /** By flag. */
  readonly values: ReadonlyMap<string, string>;
  /** The flag whose value comes next. */
  readonly open: string | null;
}

function parsed(words: readonly string[], options: readonly Option[]): ParsedWords {
  const operands: string[] = [];
  const values = new Map<string, string>();
  let open: string | null = null;
  for (const word of words) {
    const [flag = '', ...rest] = word.split('=');
    if (open !== null) {
      values.set(open, word);
      open = null;
    } else if (!word.startsWith('-')) operands.push(word);
    else if (rest.length > 0) values.set(flag, rest.join('='));
    else {
      const option = options.find(({ short, long }) => short === flag || long === flag);
      if (option?.required === true) open = option.long ?? flag;
    }
  }
  return { operands, values, open };
}

/** As flags and variables say; a URL on the line is over the socket of a variable. */
function connectionOf(values: ReadonlyMap<string, string>): ConnectionOptions {
  const { SNAPSHOTS_URL, SNAPSHOTS_SOCKET, SNAPSHOTS_TOKEN } = process.env;
  const url = values.get('--url');
  const socket = values.get('--socket') ?? (url === undefined ? SNAPSHOTS_SOCKET : undefined);
  const token = values.get('--token') ?? SNAPSHOTS_TOKEN;
  return {
    url: url ?? SNAPSHOTS_URL ?? '',
    ...(socket === undefined ? {} : { socket }),
    ...(token === undefined ? {} : { token }),
  };
}
