/** `mirror`: copies what one store has and another lacks. */
import type { Command } from 'commander';
import { inert } from '../../contract/text.ts';
import {
  concluding,
  ID_HELP,
  interruptible,
  noteUnless,
  positiveInteger,
  TIME_HELP,
  timeInNanoseconds,
} from '../connection.ts';
import { exitStatusOf, statusOf, wrongUse } from '../errors.ts';
import type { Brought, Ending } from '../mirror/copies.ts';
import type { Plan, Problem, Selection, Wanted } from '../mirror/plan.ts';
import { counted, formatBytes, print, printJson, progressBar } from '../output.ts';
import {
  ADDRESS_HELP,
  withAddresses,
  withTwoStores,
  type OpenedStore,
  type SideName,
  type TwoStoresOptions,
} from '../stores.ts';

interface MirrorOptions extends TwoStoresOptions {
  readonly id: readonly string[];
  readonly namespace?: string;
  readonly since?: string;
  readonly jobs: number;
  readonly dryRun?: boolean;
}

const JOBS = 4;

export function define(command: Command): Command {
  withAddresses(
    command
      .argument('<from>', 'the store that has the snapshots')
      .argument('<to>', 'the store that is to have them')
      .option(
        '--id <id>',
        'only this snapshot; may be given again',
        (id: string, ids: readonly string[]) => [...ids, id],
        [],
      )
      .option('--namespace <name>', 'only those of this source_namespace')
      .option('--since <time>', 'only those finished then or later', timeInNanoseconds)
      .option('--jobs <number>', 'snapshots under way at once', positiveInteger, JOBS)
      .option('--dry-run', 'say what would be brought, and change nothing'),
  );
  command.addHelpText(
    'after',
    `
Examples:
  pipewhy-snapshots mirror /srv/snapshots /backup/snapshots
  pipewhy-snapshots mirror http://127.0.0.1:8750 https://snapshots.example.org --to-token "$TOKEN"
  pipewhy-snapshots mirror https://snapshots.example.org ./copy --namespace warehouse.sales --since 7d
  pipewhy-snapshots mirror /srv/snapshots ./copy --id latest --dry-run
  pipewhy-snapshots mirror s3://bucket/prefix ./copy

${ADDRESS_HELP}
A directory TO that is not there is made. Every byte is proven when it is read and when it is published, and
the manifests are the same bytes. What TO has is told by the SHA-256 of the manifest: the same one is left
alone, another one of the same id is named and stays. A parent comes before its children, and with them
although no filter names it; without it they do not come. Stop it and start it again at any time, and several
at once: Ctrl-C lets what runs come to its end, a second one does not.

${ID_HELP}
${TIME_HELP}

Exit status:
  0  all that was meant is at TO, and equal; with --dry-run, nothing is known that would prevent it
  1  something differs or could not be brought; each is named
  2  wrong use of the command, or no store there
130  interrupted by Ctrl-C (143 by SIGTERM); the message says how far it came`,
  );
  return command.action((from: string, to: string, options: MirrorOptions) =>
    concluding(options, () => mirror({ from, to }, options), { statusOf: oneOfThree }),
  );
}

/** The kinds of failure that others tell apart by their status are one here, as a run may meet several of them. */
function oneOfThree(error: unknown): number {
  const status = exitStatusOf(error);
  return status === statusOf('usage') || status > 128 ? status : statusOf('failed');
}

interface Report {
  readonly from: string;
  readonly to: string;
  readonly dry_run: boolean;
  /** Whether all that was meant is, or with `dry_run` would be, at TO. */
  readonly complete: boolean;
  /** With `dry_run`, what would be copied. */
  readonly copied: readonly {
    readonly snapshot_id: string;
    readonly manifest_sha256: string;
    readonly byte_length: string;
  }[];
  /** Were there already. */
  readonly equal: number;
  readonly not_tried: number;
  readonly problems: readonly Problem[];
}

async function mirror(addresses: Readonly<Record<SideName, string>>, options: MirrorOptions): Promise<void> {
  const { id: ids, namespace, since } = options;
  if (ids.length > 0 && (namespace !== undefined || since !== undefined)) {
    throw wrongUse('--id names the snapshots themselves: leave out --namespace and --since');
  }
  const done: { report?: Report } = {};
  await interruptible(
    async (signal) => {
      const report = await withTwoStores(
        addresses,
        options,
        (stores) => bring(stores, { ids, namespace, since }, options, signal),
        ['to'],
      );
      done.report = report;
      // First, so that it holds although nobody reads the report to its end.
      process.exitCode = statusOf(report.complete ? 'ok' : 'failed');
      if (options.json === true) printJson(report);
      else for (const line of linesOf(report)) print(inert(line));
      signal.throwIfAborted();
    },
    () =>
      done.report === undefined
        ? 'nothing was copied'
        : `${counted(done.report.copied.length, 'snapshot')} copied, ${done.report.not_tried} not; the same command goes on`,
  );
}

async function bring(
  stores: Readonly<Record<SideName, OpenedStore>>,
  selection: Selection,
  options: MirrorOptions,
  signal: AbortSignal,
): Promise<Report> {
  const plan = await compare(stores, selection, signal);
  const { copied, equal, problems, notTried } = await copyAll(stores, plan, options, signal);
  const all = [...plan.problems, ...problems];
  return {
    from: stores.from.address,
    to: stores.to.address,
    dry_run: options.dryRun === true,
    complete: all.length === 0 && notTried === 0,
    copied: copied.map(({ id, manifestSha256, byteLength }) => ({
      snapshot_id: id,
      manifest_sha256: manifestSha256,
      byte_length: String(byteLength),
    })),
    equal: plan.equal + equal,
    not_tried: notTried,
    problems: all,
  };
}

async function compare(
  stores: Readonly<Record<SideName, OpenedStore>>,
  selection: Selection,
  signal: AbortSignal,
): Promise<Plan> {
  const { makePlan } = await import('../mirror/plan.ts');
  const progress = await progressBar('comparing', { format: String });
  try {
    return await makePlan(stores, selection, signal, (count) => progress.update(count, null));
  } finally {
    progress.stop();
  }
}

async function copyAll(
  stores: Readonly<Record<SideName, OpenedStore>>,
  plan: Plan,
  options: MirrorOptions,
  signal: AbortSignal,
): Promise<Brought> {
  const { jobs, dryRun = false } = options;
  const { bringAll, copySnapshot } = await import('../mirror/copies.ts');
  if (dryRun) return bringAll(plan, () => Promise.resolve({ is: 'copied' }), { jobs, signal });
  if (plan.wanted.size > 0 && stores.to.kind === 'store') await stores.to.store.prepare();
  const progress = await progressBar('mirroring');
  const total = [...plan.wanted.values()].reduce((sum, { byteLength }) => sum + Number(byteLength), 0);
  let done = 0;
  const onStop = (): void => {
    noteUnless(options, 'Stopping when what runs has come to its end; once more stops at once.');
  };
  signal.addEventListener('abort', onStop, { once: true });
  try {
    const copy = (one: Wanted): Promise<Ending> =>
      copySnapshot(stores, one, signal, (bytes) => progress.update((done += bytes), total));
    return await bringAll(plan, copy, { jobs, signal });
  } finally {
    signal.removeEventListener('abort', onStop);
    progress.stop();
  }
}

/** One by one: there may be as many as snapshots. */
function* linesOf({
  dry_run: dryRun,
  copied,
  equal,
  problems,
  not_tried: notTried,
}: Report): Generator<string> {
  let bytes = 0n;
  for (const { snapshot_id: id, byte_length: length } of copied) {
    bytes += BigInt(length);
    yield `${dryRun ? 'would copy' : 'copied'} ${id}`;
  }
  for (const { snapshot_id: id, side, code, detail } of problems) {
    yield `${id}: ${code} at ${side.toUpperCase()}: ${detail}`;
  }
  yield `${counted(copied.length, 'snapshot')} ${dryRun ? 'would be copied' : 'copied'} (${formatBytes(bytes)}), ${equal} there already.`;
  if (problems.length > 0) yield `${counted(problems.length, 'snapshot')} could not be brought.`;
  if (notTried > 0) yield `${counted(notTried, 'snapshot')} not tried; the same command goes on.`;
}
