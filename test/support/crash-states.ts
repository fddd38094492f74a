/**
 * The disks that POSIX permits after a power cut, derived from a recorded history.
 *
 * What a sync promises is kept, and nothing else: a write is safe once an fsync of its file that began after the write
 * has ended; a name is safe once an fsync of its directory that began after the name was made has ended. Everything else
 * may be there or not, each independently of the others: names in any order, data not at all, in part, or as zeros.
 * Syncing a file does not make its name safe, nor the other way round.
 */
import type { MemoryDirectory, MemoryNode } from './memory-file-system.ts';
import { emptyDirectory } from './memory-file-system.ts';
import type { Operation } from './recording-file-system.ts';

/**
 * `atomic`: a rename happens wholly or not at all, as journals of ext4, xfs and btrfs do it. `split`: the new name and
 * the loss of the old one reach the disk apart, so that for a while both or neither may be there.
 */
export const RENAME_MODELS = ['atomic', 'split'] as const;
export type RenameModel = (typeof RENAME_MODELS)[number];

interface ModelFile {
  readonly kind: 'file';
  readonly id: number;
  readonly writes: Operation[];
  readonly syncs: Operation[];
}

interface ModelDirectory {
  readonly kind: 'directory';
  readonly id: number;
  /** What is visible to running processes. */
  readonly live: Map<string, ModelNode>;
  /** Every change of every name, in order. */
  readonly updates: Map<string, Update[]>;
  readonly syncs: Operation[];
}

type ModelNode = ModelFile | ModelDirectory;

interface Update {
  readonly by: Operation;
  readonly value: ModelNode | null;
}

/** One thing that the cut decides. Options are numbered; `none` is the least that may survive, `all` is everything. */
interface Choice {
  readonly options: number;
  readonly none: number;
  readonly all: number;
}

type Vector = readonly number[];

/** Turns choices into a node of the disk, and writes into `signature` what distinguishes it. */
interface DiskBuilder {
  readonly choices: readonly Choice[];
  build(vector: Vector): CrashState;
}

export interface CrashState {
  readonly tree: MemoryDirectory;
  /** Equal for equal disks of one history. */
  readonly signature: string;
}

export interface CrashOptions {
  readonly rename: RenameModel;
  /** Up to this many combinations are all tried; of more, all that differ from an extreme in a few choices. */
  readonly exhaustiveUpTo: number;
  /** How many choices may differ from an extreme then. */
  readonly deviations: 1 | 2;
  /** Random combinations in addition. */
  readonly samples: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const FILE_OPTIONS = ['lost', 'all', 'zeros', 'half', 'second half', 'one byte short', 'anything'] as const;
const STABLE_FILE_OPTIONS = FILE_OPTIONS.length - 1;

/** Disks after a cut at moment `cut`: what began at or after it never happened. Repeats are left out. */
export function* crashStates(
  history: readonly Operation[],
  cut: number,
  options: CrashOptions,
): Generator<CrashState, void, void> {
  const builder = diskAt(history, cut, options.rename, options.random);
  const seen = new Set<string>();
  for (const vector of vectorsOf(builder.choices, options)) {
    const state = builder.build(vector);
    if (seen.has(state.signature)) continue;
    seen.add(state.signature);
    yield state;
  }
}

function* vectorsOf(choices: readonly Choice[], options: CrashOptions): Generator<Vector, void, void> {
  const combinations = choices.reduce((product, choice) => product * choice.options, 1);
  if (combinations <= options.exhaustiveUpTo) yield* allVectors(choices);
  else yield* structuredVectors(choices, options.deviations);
  for (let sample = 0; sample < options.samples; sample += 1) {
    yield choices.map(({ options: count }) => Math.floor(options.random() * count));
  }
}

function* allVectors(choices: readonly Choice[]): Generator<Vector, void, void> {
  const vector = choices.map(() => 0);
  for (;;) {
    yield [...vector];
    let at = 0;
    while (at < vector.length && vector[at] === choices[at]!.options - 1) {
      vector[at] = 0;
      at += 1;
    }
    if (at === vector.length) return;
    vector[at]! += 1;
  }
}

/** Both extremes, and everything that differs from one of them in up to `deviations` choices. */
function* structuredVectors(choices: readonly Choice[], deviations: 1 | 2): Generator<Vector, void, void> {
  for (const base of [choices.map(({ all }) => all), choices.map(({ none }) => none)]) {
    yield base;
    for (let first = 0; first < choices.length; first += 1) {
      for (let one = 0; one < choices[first]!.options; one += 1) {
        const single = base.with(first, one);
        yield single;
        if (deviations === 1) continue;
        for (let second = first + 1; second < choices.length; second += 1) {
          for (let two = 0; two < choices[second]!.options; two += 1) yield single.with(second, two);
        }
      }
    }
  }
}

function diskAt(
  history: readonly Operation[],
  cut: number,
  rename: RenameModel,
  random: () => number,
): DiskBuilder {
  const { root, renames } = replay(history, cut);
  const choices: Choice[] = [];
  const choose = (choice: Choice): number => choices.push(choice) - 1;
  const coverage = new Coverage(cut);

  const renameSurvives = new Map<Operation, (vector: Vector) => boolean>();
  if (rename === 'atomic') {
    for (const { operation, directories } of renames) {
      if (directories.some((directory) => coverage.covers(directory.syncs, operation))) {
        renameSurvives.set(operation, () => true);
      } else {
        const at = choose({ options: 2, none: 0, all: 1 });
        renameSurvives.set(operation, (vector) => vector[at] === 1);
      }
    }
  }

  type Build = (vector: Vector, signature: string[]) => MemoryNode;
  const planned = new Map<ModelNode, Build>();
  const plan = (node: ModelNode): Build => {
    const known = planned.get(node);
    if (known !== undefined) return known;
    const built = node.kind === 'file' ? planFile(node) : planDirectory(node);
    planned.set(node, built);
    return built;
  };

  const planFile = (file: ModelFile): Build => {
    const safe = file.writes.filter((write) => coverage.covers(file.syncs, write));
    const kept = contentOf(safe);
    const full = contentOf(file.writes);
    if (safe.length === file.writes.length) {
      return (_vector, signature) => {
        signature.push(`${file.id}=${full.length}`);
        return { kind: 'file', bytes: full };
      };
    }
    const at = choose({ options: FILE_OPTIONS.length, none: 0, all: 1 });
    const stable = Array.from({ length: STABLE_FILE_OPTIONS }, (_, option) =>
      survivor(kept, full, option, random),
    );
    return (vector, signature) => {
      const option = vector[at]!;
      const bytes = stable[option] ?? survivor(kept, full, option, random);
      // Random remains are never taken for a repetition.
      const which = option < STABLE_FILE_OPTIONS ? String(option) : `${option}.${random()}`;
      signature.push(`${file.id}=${kept.length}/${full.length}:${which}`);
      return { kind: 'file', bytes };
    };
  };

  const planDirectory = (directory: ModelDirectory): Build => {
    const entries = [...directory.updates].map(
      ([name, updates]) => [name, planName(directory, updates)] as const,
    );
    return (vector, signature) => {
      const made = emptyDirectory();
      signature.push(`${directory.id}{`);
      for (const [name, valueIn] of entries) {
        const value = valueIn(vector);
        if (value === null) continue;
        signature.push(`${name}>`);
        made.entries.set(name, plan(value)(vector, signature));
      }
      signature.push('}');
      return made;
    };
  };

  /** What a name stands for after the cut: the value of its last safe update or of any later one. */
  const planName = (
    directory: ModelDirectory,
    updates: readonly Update[],
  ): ((vector: Vector) => ModelNode | null) => {
    for (const { value } of updates) if (value !== null) plan(value);
    const own = updates.filter(({ by }) => !renameSurvives.has(by));
    const moves = updates.filter(({ by }) => renameSurvives.has(by));
    if (moves.length > 0 && updates.indexOf(moves[0]!) < own.length) {
      throw new Error('The model expects that nothing else happens to a name after its rename.');
    }
    const safe = own.findLastIndex(({ by }) => coverage.covers(directory.syncs, by));
    const open = own.length - 1 - safe;
    const at = open === 0 ? -1 : choose({ options: open + 1, none: 0, all: open });
    return (vector) => {
      const last = own[safe + (at === -1 ? 0 : vector[at]!)];
      let value = last === undefined ? null : last.value;
      for (const move of moves) if (renameSurvives.get(move.by)!(vector)) value = move.value;
      return value;
    };
  };

  const build = plan(root);
  return {
    choices,
    build: (vector) => {
      const signature: string[] = [];
      const tree = build(vector, signature) as MemoryDirectory;
      return { tree, signature: signature.join('') };
    },
  };
}

/** Which operations a cut can no longer undo. */
class Coverage {
  readonly #cut: number;

  constructor(cut: number) {
    this.#cut = cut;
  }

  /** A sync covers what had ended before it began, once it has itself ended well before the cut. */
  covers(syncs: readonly Operation[], change: Operation): boolean {
    return syncs.some(
      (sync) => sync.succeeded && sync.end < this.#cut && change.end < sync.begin && change.end < this.#cut,
    );
  }
}

interface Rename {
  readonly operation: Operation;
  readonly directories: readonly [ModelDirectory, ModelDirectory];
}

function replay(
  history: readonly Operation[],
  cut: number,
): { root: ModelDirectory; renames: readonly Rename[] } {
  let nodes = 0;
  const newDirectory = (): ModelDirectory => {
    nodes += 1;
    return { kind: 'directory', id: nodes, live: new Map(), updates: new Map(), syncs: [] };
  };
  const root = newDirectory();
  const files = new Map<number, ModelFile>();
  const renames: Rename[] = [];

  const directoryAt = (path: string): ModelDirectory => {
    let node: ModelNode | undefined = root;
    for (const step of path.split('/').filter((part) => part !== '')) {
      node = node.kind === 'directory' ? node.live.get(step) : undefined;
      if (node === undefined) throw new Error(`The history works in ${path} before it made it.`);
    }
    if (node.kind !== 'directory') throw new Error(`${path} is no directory in the history.`);
    return node;
  };
  const change = (path: string, value: ModelNode | null, by: Operation): ModelDirectory => {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const directory = directoryAt(path.slice(0, slash));
    if (value === null) directory.live.delete(name);
    else directory.live.set(name, value);
    const updates = directory.updates.get(name) ?? [];
    directory.updates.set(name, updates);
    updates.push({ by, value });
    return directory;
  };

  for (const operation of history) {
    if (operation.begin >= cut || !operation.succeeded) continue;
    switch (operation.kind) {
      case 'mkdir':
        change(operation.path, newDirectory(), operation);
        break;
      case 'create': {
        nodes += 1;
        const file: ModelFile = { kind: 'file', id: nodes, writes: [], syncs: [] };
        files.set(operation.file, file);
        change(operation.path, file, operation);
        break;
      }
      case 'write':
        files.get(operation.file)?.writes.push(operation);
        break;
      case 'sync':
        files.get(operation.file)?.syncs.push(operation);
        break;
      case 'syncDirectory':
        directoryAt(operation.path).syncs.push(operation);
        break;
      case 'rename': {
        const slash = operation.path.lastIndexOf('/');
        const moved = directoryAt(operation.path.slice(0, slash)).live.get(operation.path.slice(slash + 1));
        if (moved === undefined) throw new Error(`The history renames ${operation.path} before it made it.`);
        const source = change(operation.path, null, operation);
        const target = change(operation.to, moved, operation);
        renames.push({ operation, directories: [source, target] });
        break;
      }
    }
  }
  return { root, renames };
}

function contentOf(writes: readonly Operation[]): Uint8Array {
  let length = 0;
  for (const write of writes) {
    if (write.kind === 'write') length = Math.max(length, write.position + write.bytes.length);
  }
  const bytes = new Uint8Array(length);
  for (const write of writes) if (write.kind === 'write') bytes.set(write.bytes, write.position);
  return bytes;
}

/** What of a file may be left when `kept` is safe and `full` was written. */
function survivor(kept: Uint8Array, full: Uint8Array, option: number, random: () => number): Uint8Array {
  const unsafe = full.length - kept.length;
  const middle = kept.length + Math.floor(unsafe / 2);
  switch (FILE_OPTIONS[option]) {
    case 'lost':
      return kept;
    case 'all':
      return full;
    case 'zeros':
      return joined([kept, new Uint8Array(unsafe)]);
    case 'half':
      return full.subarray(0, middle);
    case 'second half':
      return joined([kept, new Uint8Array(middle - kept.length), full.subarray(middle)]);
    case 'one byte short':
      return full.subarray(0, Math.max(kept.length, full.length - 1));
    case 'anything':
      return torn(kept, full, random);
    default:
      throw new Error(`No such option: ${option}`);
  }
}

/** Any length, and in it any of the blocks that disks write at once. */
function torn(kept: Uint8Array, full: Uint8Array, random: () => number): Uint8Array {
  const length = kept.length + Math.floor(random() * (full.length - kept.length + 1));
  const bytes = full.slice(0, length);
  const block = [1, 16, 512, 4096][Math.floor(random() * 4)]!;
  for (let at = kept.length; at < length; at += block) {
    if (random() < 0.5) bytes.fill(0, at, Math.min(at + block, length));
  }
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
