/**
 * "Every operation fails once": runs a scenario again and again, failing its first, second, third … operation through
 * the file-system port until a run is clean, and holds every run against the same invariants.
 */
import { cpSync } from 'node:fs';

import { SnapshotError, type ErrorCode } from '../../src/contract/errors.ts';
import type { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import type { StoreOptions } from '../../src/store/store-options.ts';
import {
  FAULT_KINDS,
  FaultFileSystem,
  isError,
  isSync,
  type FaultKind,
  type Method,
  type Operation,
} from './fault-file-system.ts';
import { makeLightRoot, removeRoot, storeAt, treeOf } from './stores.ts';

/** How one faulty run ended. */
export interface FaultyRun {
  readonly root: string;
  readonly fs: FaultFileSystem;
  /** The store that lived through the fault. */
  readonly store: LocalSnapshotStore;
  readonly kind: FaultKind;
  readonly value?: unknown;
  readonly error?: unknown;
  /** The operations of the run. */
  readonly log: readonly Operation[];
}

export interface FaultScenario {
  readonly name: string;
  readonly options?: Partial<StoreOptions>;
  /** Fills a root before any fault; every run starts from a copy of it. */
  readonly prepare?: (store: LocalSnapshotStore, root: string) => Promise<unknown>;
  /** Nothing on the disk may change, so all runs share one root. */
  readonly reads?: boolean;
  readonly run: (store: LocalSnapshotStore) => Promise<unknown>;
  /** Codes that a failed run may end in. */
  readonly codes: (run: FaultyRun) => readonly (ErrorCode | 'UnusableRootError')[];
  /** Whether a run may succeed although an operation of it failed. */
  readonly mayHide?: (run: FaultyRun) => boolean;
  /** What is wrong afterwards, with a healthy disk, that is not wrong for every scenario. */
  readonly judge: (run: FaultyRun) => Promise<string[]>;
}

export interface FaultReport {
  readonly scenario: string;
  /** Runs in which an operation was struck. */
  readonly faults: number;
  readonly violations: readonly string[];
}

export interface FaultChoice {
  readonly kinds?: readonly FaultKind[];
  /** Only operations of this method are counted and struck. */
  readonly method?: Method;
  readonly late?: boolean;
}

/** A run that is still struck here has lost its way. */
const MOST_OPERATIONS = 5000;

export async function exhaustFaults(
  scenario: FaultScenario,
  { kinds = FAULT_KINDS, method, late = false }: FaultChoice = {},
): Promise<FaultReport> {
  const violations: string[] = [];
  let faults = 0;
  const template = makeLightRoot();
  try {
    await scenario.prepare?.(storeAt(template, scenario.options), template);
    for (const kind of kinds) {
      for (let at = 1; ; at += 1) {
        const found = await strike(scenario, template, { at, kind, late, ...(method && { method }) });
        if (found === null) break;
        faults += 1;
        violations.push(...found);
        if (at > MOST_OPERATIONS) throw new Error(`${scenario.name} does not come to an end.`);
      }
    }
  } finally {
    removeRoot(template);
  }
  return { scenario: scenario.name, faults, violations };
}

/** Null where the run was over before the fault's turn. */
async function strike(
  scenario: FaultScenario,
  template: string,
  fault: { at: number; kind: FaultKind; method?: Method; late: boolean },
): Promise<string[] | null> {
  const root = scenario.reads === true ? template : makeLightRoot();
  try {
    if (root !== template) copyTree(template, root);
    const fs = new FaultFileSystem(root);
    fs.skipSyncs = true;
    const store = storeAt(root, { ...scenario.options, fileSystem: fs });
    if (scenario.prepare !== undefined) await store.prepare();
    const before = treeOf(root, { contents: false });
    const start = fs.log.length;
    fs.arm(fault);
    const ended = await outcomeOf(scenario.run(store));
    const log = fs.log.slice(start);
    fs.disarm();
    if (fs.struck === null) {
      if ('error' in ended)
        throw new Error(`${scenario.name} fails without a fault.`, { cause: ended.error });
      return null;
    }
    const run: FaultyRun = { root, fs, store, kind: fault.kind, log, ...ended };
    const found = [
      ...judgeOutcome(scenario, run),
      ...judgeLog(run),
      ...judgeTree(before, treeOf(root, { contents: false })),
      ...(await scenario.judge(run)),
    ];
    if (fs.open.size > 0) found.push(`left open afterwards: ${[...fs.open.values()].join(', ')}`);
    const { struck } = fs;
    return found.map(
      (what) => `${fault.kind} at operation ${fault.at} (${struck.method} ${struck.path}): ${what}`,
    );
  } finally {
    if (root !== template) removeRoot(root);
  }
}

function copyTree(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}

async function outcomeOf(work: Promise<unknown>): Promise<{ value: unknown } | { error: unknown }> {
  try {
    return { value: await work };
  } catch (error) {
    return { error };
  }
}

function judgeOutcome(scenario: FaultScenario, run: FaultyRun): string[] {
  const found: string[] = [];
  if (run.fs.open.size > 0) found.push(`descriptors left open: ${[...run.fs.open.values()].join(', ')}`);
  if (!('error' in run)) {
    if (isError(run.kind) && scenario.mayHide?.(run) !== true) found.push('the failure was swallowed');
    return found;
  }
  const { error } = run;
  if (run.kind === 'half') found.push('a short transfer was not carried on');
  const name = error instanceof SnapshotError ? error.code : (error as Error).name;
  if (!(scenario.codes(run) as string[]).includes(name)) {
    found.push(`ended in ${name}: ${(error as Error).message}`);
  }
  if (run.fs.injected !== null && !causes(error).includes(run.fs.injected)) {
    found.push(`${name} does not lead to the original error`);
  }
  return found;
}

/** The error and all that it was caused by. */
export function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = error; at instanceof Error; at = at.cause) chain.push(at);
  return chain;
}

/** Nothing that failed is done again, and nothing is synced once its sync has failed. */
function judgeLog({ log, fs }: FaultyRun): string[] {
  const { struck } = fs;
  if (struck?.outcome !== 'failed') return [];
  const later = log.slice(log.indexOf(struck) + 1);
  const again = later.filter(
    (operation) =>
      operation.path === struck.path &&
      ((isSync(struck) && isSync(operation)) ||
        (CHANGING.has(struck.method) &&
          operation.method === struck.method &&
          operation.position === struck.position)),
  );
  return again.map(({ method, path }) => `${method} of ${path} came again after the failure`);
}

const CHANGING: ReadonlySet<Method> = new Set<Method>([
  'makeDirectory',
  'createFile',
  'write',
  'writeSync',
  'rename',
  'close',
  'closeSync',
]);

/** What lay on the disk before still does, unchanged to its change time: only a directory's own times may move. */
function judgeTree(before: Map<string, string>, after: Map<string, string>): string[] {
  const found: string[] = [];
  for (const [path, state] of before) {
    const now = after.get(path);
    if (now === undefined) found.push(`${path} is gone`);
    else if (now !== state && !isDirectoryState(now)) found.push(`${path} was changed`);
  }
  return found;
}

function isDirectoryState(state: string): boolean {
  return (Number(state.split(' ')[0]) & 0o170000) === 0o040000;
}
