/** The sub-commands of `pipewhy-snapshots`; only those that are meant are loaded, as most calls are short. */
import { Command } from 'commander';
import { packageVersion } from '../package-version.ts';
import { STATUS_HELP } from './errors.ts';

interface Verb {
  readonly about: string;
  /** Adds flags, examples and what to do. */
  readonly load: () => Promise<{ readonly define: (command: Command) => Command }>;
  /** Not shown: for the completion scripts. */
  readonly hidden?: boolean;
}

const VERBS: Readonly<Record<string, Verb>> = {
  serve: { about: 'start the service', load: () => import('./serve.ts') },
  publish: {
    about: 'publish files of raw little-endian integers, or .npy files, as one immutable snapshot',
    load: () => import('./commands/publish.ts'),
  },
  get: {
    about: 'fetch a whole snapshot, or one array of it, and prove it',
    load: () => import('./commands/get.ts'),
  },
  ls: { about: 'list published snapshots, the last finished first', load: () => import('./commands/ls.ts') },
  show: { about: 'show one snapshot and its arrays', load: () => import('./commands/show.ts') },
  log: {
    about: 'show where a snapshot comes from and what came of it, drawn as a graph',
    load: () => import('./commands/log.ts'),
  },
  diff: {
    about: 'compare two snapshots, also of different stores, by position or by key',
    load: () => import('./commands/diff.ts'),
  },
  verify: {
    about: 'prove every byte of a store on disk, without a service; changes nothing',
    load: () => import('./commands/verify.ts'),
  },
  mirror: {
    about: 'copy what one store has and another lacks, proven and byte-identical',
    load: () => import('./commands/mirror.ts'),
  },
  incomplete: {
    about: 'list attempts that were never published; changes nothing',
    load: () => import('./commands/incomplete.ts'),
  },
  contexts: {
    about: 'show the fingerprint contexts that the service knows',
    load: () => import('./commands/contexts.ts'),
  },
  completion: {
    about: 'print a completion script for a shell',
    load: () => import('./commands/completion.ts'),
  },
  complete: {
    about: 'print the words that may come next',
    load: () => import('./commands/complete.ts'),
    hidden: true,
  },
};

/** Verbs that tell about all others. */
const ALL_KNOWING = ['completion'];

/** `words` are those of the command line: the verbs among them get their flags, the others a name and a sentence. */
export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('pipewhy-snapshots')
    .description('Immutable, checksummed snapshots of integer arrays')
    .version(packageVersion())
    .addHelpText(
      'after',
      `
Examples:
  pipewhy-snapshots serve --root ./data
  pipewhy-snapshots publish --metadata snapshot.json ids=ids.bin:int64
  pipewhy-snapshots ls
  pipewhy-snapshots show latest
  pipewhy-snapshots verify ./data

${STATUS_HELP}`,
    );
  // A line that is to be completed comes as one word.
  const asked = new Set(words.flatMap((word) => word.split(/\s+/u)));
  const isAsked = (name: string): boolean => [name, ...ALL_KNOWING].some((word) => asked.has(word));
  for (const [name, { about, load, hidden = false }] of Object.entries(VERBS)) {
    const command = new Command(name).description(about);
    program.addCommand(command, { hidden });
    if (isAsked(name)) (await load()).define(command);
  }
  return program;
}
