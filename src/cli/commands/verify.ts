/** `verify`: proves every byte of a store on disk, on all cores and without a service; changes nothing. */
import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { isAnySnapshotError, type Violation } from '../../contract/errors.ts';
import { isSnapshotId } from '../../contract/ids.ts';
import type { IncompleteAttempt } from '../../contract/listings.ts';
import { inert } from '../../contract/text.ts';
import type { SnapshotStore } from '../../store/snapshot-store.ts';
import { concluding, positiveInteger, withJson, type OutputOptions } from '../connection.ts';
import { statusOf, wrongUse } from '../errors.ts';
import { counted, formatBytes, print, printJson, progressBar } from '../output.ts';

interface VerifyOptions extends OutputOptions {
  readonly contexts?: string;
  readonly jobs: number;
}

/** One line of the report for each entry that cannot be proven. */
interface Problem {
  /** Relative to the root. */
  readonly path: string;
  readonly code: string;
  /** What does not hold: `marker`, `checksum`, `foreign` and so on. */
  readonly problem: string | null;
  readonly message: string;
  readonly errors: readonly Violation[];
}

interface Report {
  readonly root: string;
  readonly valid: boolean;
  readonly checked: number;
  /** Bytes of the arrays of the valid snapshots, decimal. */
  readonly byte_length: string;
  readonly problems: readonly Problem[];
  /** What lies in staging; attempts are evidence and no problem of what is published. */
  readonly incomplete: readonly IncompleteAttempt[];
}

export function define(command: Command): Command {
  withJson(command)
    .argument('<root>', 'directory that holds snapshots/ and staging/')
    .argument('[ids...]', 'only these snapshots, each by its id or the first digits of it; all by default')
    .addOption(new Option('--contexts <file>', 'the C3 declarations').env('SNAPSHOTS_CONTEXTS'))
    .option('--jobs <number>', 'threads that hash', positiveInteger, availableParallelism());
  command.addHelpText(
    'after',
    `
Examples:
  pipewhy-snapshots verify /srv/snapshots
  pipewhy-snapshots verify /srv/snapshots 0123456789abcdef0123456789abcdef
  pipewhy-snapshots verify /srv/snapshots --json > report.json

Exit status:
  0  every snapshot is valid
  1  something cannot be proven; each is named
  2  wrong use of the command, or no store there`,
  );
  return command.action((root: string, ids: readonly string[], options: VerifyOptions) =>
    concluding(options, async () => {
      const report = await verify(root, ids, options);
      // First, so that it holds although nobody reads the report to its end.
      process.exitCode = statusOf(report.valid ? 'ok' : 'failed');
      if (options.json === true) printJson(report);
      else for (const line of linesOf(report)) print(line);
    }),
  );
}

async function verify(root: string, ids: readonly string[], options: VerifyOptions): Promise<Report> {
  // Only here: help is told without the weight of a store.
  const { openLocalStore } = await import('../local-store.ts');
  const { store, names } = await openLocalStore(root, options.contexts, options.jobs);
  try {
    const chosen = ids.length === 0 ? names : ids.map((id) => chosenId(id, names));
    const { problems, bytes } = await proveAll(store, chosen, options);
    const { incomplete } = await store.inspectIncomplete();
    return {
      root,
      valid: problems.length === 0,
      checked: chosen.length,
      byte_length: String(bytes),
      problems,
      incomplete,
    };
  } finally {
    await store.close();
  }
}

/** A whole id, which need not be there, or the only one that begins so. Throws `CommandError`. */
function chosenId(text: string, names: readonly string[]): string {
  const isWhole: boolean = isSnapshotId(text);
  if (isWhole) return text;
  const found = names.filter((name) => isSnapshotId(name) && name.startsWith(text));
  const [only, ...others] = /^[0-9a-f]+$/u.test(text) ? found : [];
  if (only === undefined) {
    throw wrongUse(
      `${JSON.stringify(text)} is no snapshot id of this store: expected 32 lowercase hex digits`,
    );
  }
  if (others.length > 0) throw wrongUse(`several ids begin with ${text}: ${found.slice(0, 10).join(', ')}`);
  return only;
}

const FOREIGN = 'does not belong into snapshots/: its name is not a snapshot id';

async function proveAll(
  store: SnapshotStore,
  names: readonly string[],
  { jobs }: VerifyOptions,
): Promise<{ readonly problems: readonly Problem[]; readonly bytes: bigint }> {
  const progress = await progressBar('verifying snapshots', { format: String });
  const problems: Problem[] = [];
  const waiting = names.values();
  let bytes = 0n;
  let done = 0;
  const lane = async (): Promise<void> => {
    for (const name of waiting) {
      try {
        if (!isSnapshotId(name)) throw new Error(FOREIGN);
        const { manifest } = await store.readManifest(name);
        // Added only now: the other lanes add to it meanwhile.
        for (const { byte_length: length } of Object.values(manifest.arrays)) bytes += BigInt(length);
      } catch (error) {
        problems.push(problemOf(name, error));
      }
      progress.update((done += 1), names.length);
    }
  };
  try {
    // Two for each thread, so that none waits for the next task to reach it.
    await Promise.all(Array.from({ length: jobs * 2 }, lane));
  } finally {
    progress.stop();
  }
  return { problems: problems.sort((a, b) => (a.path < b.path ? -1 : 1)), bytes };
}

function problemOf(name: string, error: unknown): Problem {
  const path = `snapshots/${name}`;
  if (!isAnySnapshotError(error)) {
    if (isSnapshotId(name)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { path, code: 'storage_integrity', problem: 'foreign', message, errors: [] };
  }
  const { details, code, message } = error;
  const problem = 'problem' in details ? details.problem : null;
  return { path, code, problem, message, errors: 'errors' in details ? (details.errors ?? []) : [] };
}

function linesOf({ checked, problems, byte_length: bytes, incomplete, root }: Report): readonly string[] {
  const lines = problems.map(({ path, code, problem, message }) => `${path}: ${problem ?? code}: ${message}`);
  lines.push(
    problems.length === 0
      ? `${checked === 1 ? 'The one snapshot is' : `All ${checked} snapshots are`} valid (${formatBytes(bytes)}).`
      : `${problems.length} of ${counted(checked, 'entry', 'entries')} cannot be proven.`,
  );
  if (incomplete.length > 0) {
    lines.push(
      `${counted(incomplete.length, 'attempt was', 'attempts were')} left in staging: pipewhy-snapshots incomplete --root ${root}`,
    );
  }
  return lines.map((line) => inert(line));
}
