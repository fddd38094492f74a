/** Runs the real reader on disks that a power cut may leave, and says which promise of the store it finds broken. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { crashStates, RENAME_MODELS, type CrashOptions } from './crash-states.ts';
import { memoryFileSystem, type MemoryDirectory, type MemoryNode } from './memory-file-system.ts';
import { declarations } from './example.ts';
import { record, ROOT, type Recording, type Told } from './power-cut-histories.ts';
import { randomOf } from './random.ts';

/**
 * `lost`: something that a client was told is not there, or other than it was told. `false`: something is visible as a
 * snapshot that cannot be proven, or that nobody ever staged. `accepted`: the reader takes bytes for proven that are not
 * those of the manifest. `listing`: the listing fails or leaves something out.
 * `reappeared`: an attempt that became a snapshot shows as incomplete once more. `unanswered`: /incomplete fails or
 * hides an attempt.
 */
export type ViolationKind = 'lost' | 'false' | 'accepted' | 'listing' | 'reappeared' | 'unanswered';

export interface PowerCutViolation {
  readonly kind: ViolationKind;
  readonly scenario: string;
  /** Moment of the cut in the recorded history. */
  readonly cut: number;
  readonly detail: string;
}

export interface PowerCutTally {
  /** Distinct disks judged. */
  states: number;
  readonly violations: PowerCutViolation[];
}

/** Judges every disk of every cut of one recording; keeps the first `limit` violations. */
export async function judgeRecording(
  recording: Recording,
  options: CrashOptions,
  limit = 20,
): Promise<PowerCutTally> {
  const { history, name } = recording;
  const staged = stagedManifests(recording);
  const tally: PowerCutTally = { states: 0, violations: [] };
  const judged = new Set<string>();
  const last = history.tick();
  for (let cut = 1; cut <= last; cut += 1) {
    const told = history.notes.filter(({ at }) => at < cut).map(({ value }) => value);
    for (const { tree, signature } of crashStates(history.operations, cut, options)) {
      const key = `${told.length}|${signature}`;
      if (judged.has(key)) continue;
      judged.add(key);
      tally.states += 1;
      for (const violation of await judgeDisk(tree, told, staged)) {
        if (tally.violations.length < limit) tally.violations.push({ ...violation, scenario: name, cut });
      }
    }
  }
  return tally;
}

/** Digests of every manifest that some publication wrote, by id. */
function stagedManifests({ history }: Recording): ReadonlySet<string> {
  const parts = new Map<number, Uint8Array[]>();
  for (const operation of history.operations) {
    if (operation.kind !== 'write' || basename(operation.path) !== 'manifest.json') continue;
    parts.set(operation.file, [...(parts.get(operation.file) ?? []), operation.bytes]);
  }
  return new Set([...parts.values()].map((bytes) => sha256Of(Buffer.concat(bytes))));
}

type Found = Pick<PowerCutViolation, 'kind' | 'detail'>;

/** What a restarted service finds on one disk. */
async function judgeDisk(
  tree: MemoryDirectory,
  told: readonly Told[],
  staged: ReadonlySet<string>,
): Promise<Found[]> {
  const found: Found[] = [];
  const names = (directory: string): string[] => {
    const node = nodeAt(tree, `${ROOT}/${directory}`);
    return node?.kind === 'directory' ? [...node.entries.keys()].sort() : [];
  };
  const published = names('snapshots');
  const attempts = names('staging');
  const store = new LocalSnapshotStore(ROOT, {
    declarations,
    fileSystem: memoryFileSystem(tree),
  });
  try {
    await store.prepare();
  } catch (error) {
    return [{ kind: 'listing', detail: `the root cannot be used again: ${messageOf(error)}` }];
  }

  const digests = new Map<string, string>();
  for (const id of published) {
    try {
      const { manifestSha256, manifest } = await store.readManifest(id);
      digests.set(id, manifestSha256);
      for (const { file, sha256 } of Object.values(manifest.arrays)) {
        const node = nodeAt(tree, `${ROOT}/snapshots/${id}/${file}`);
        const bytes = node?.kind === 'file' ? node.bytes : new Uint8Array();
        if (sha256Of(bytes) !== sha256) found.push({ kind: 'accepted', detail: `${id}/${file}` });
      }
      if (!staged.has(manifestSha256))
        found.push({ kind: 'false', detail: `${id} has a manifest of nobody` });
    } catch (error) {
      found.push({ kind: 'false', detail: messageOf(error) });
    }
  }
  for (const { id, manifestSha256, attempt } of told) {
    const digest = digests.get(id);
    if (digest !== manifestSha256) found.push({ kind: 'lost', detail: `${id} is ${digest ?? 'absent'}` });
    if (attempts.includes(attempt)) {
      found.push({
        kind: 'reappeared',
        detail: `staging/${attempt} is published as ${id} and yet incomplete`,
      });
    }
  }
  try {
    const listed = (await store.listSnapshots()).snapshots.map(({ snapshot_id: id }) => id);
    if (listed.join() !== published.join())
      found.push({ kind: 'listing', detail: `lists only ${listed.join()}` });
  } catch (error) {
    found.push({ kind: 'listing', detail: messageOf(error) });
  }
  try {
    const shown = (await store.inspectIncomplete()).incomplete.map(({ path }) => basename(path));
    if (shown.join() !== attempts.join())
      found.push({ kind: 'unanswered', detail: `shows only ${shown.join()}` });
  } catch (error) {
    found.push({ kind: 'unanswered', detail: messageOf(error) });
  }
  return found;
}

/** What goes wrong when the sync of this path does nothing; `#2` is the second sync of the same path, and so on. */
export type Consequences = Readonly<Record<string, readonly ViolationKind[]>>;

/** Records a scenario over and over, each time with another one of its syncs left out. */
export async function consequencesOfDroppedSyncs(scenario: string, seed: number): Promise<Consequences> {
  const consequences: Record<string, readonly ViolationKind[]> = {};
  const times = new Map<string, number>();
  for (let n = 1; ; n += 1) {
    const kinds = new Set<ViolationKind>();
    let path: string | null = null;
    for (const rename of RENAME_MODELS) {
      const recording = await record(scenario, seed, n);
      path = recording.dropped;
      const options: CrashOptions = {
        rename,
        exhaustiveUpTo: 64,
        deviations: 1,
        samples: 0,
        random: randomOf(seed),
      };
      const { violations } =
        path === null ? { violations: [] } : await judgeRecording(recording, options, 1000);
      for (const { kind } of violations) kinds.add(kind);
    }
    if (path === null) return consequences;
    const role = path.replace(/[0-9a-f]{32}/u, 'ATTEMPT');
    const time = (times.get(role) ?? 0) + 1;
    times.set(role, time);
    consequences[time === 1 ? role : `${role}#${time}`] = [...kinds].sort();
  }
}

function nodeAt(tree: MemoryDirectory, path: string): MemoryNode | undefined {
  let node: MemoryNode | undefined = tree;
  for (const step of path.slice(1).split('/')) {
    node = node?.kind === 'directory' ? node.entries.get(step) : undefined;
  }
  return node;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
