/**
 * What lies in staging: each entry judged without changing anything, in the order of names, and measured; advisory while
 * publications run (PW-07.04, PW-07.18).
 */
import { pMapIterable } from 'p-map';
import { INTENT_FILE, MARKER_FILE, intentBytes } from '../contract/package.ts';
import { isAnySnapshotError, messageInFull, type SnapshotError } from '../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import type { IncompleteAttempt, Phase } from '../contract/listings.ts';
import { parseStrictJson } from '../contract/strict-json.ts';
import type { DirectoryEntry, FileStat, FileSystemReader } from './file-system.ts';
import { errnoOf, isMissing, readAtMost, withFile } from './io.ts';
import { isAttemptName, STAGING } from './layout.ts';
import type { Turn } from './payload-proof.ts';
import {
  byBytes,
  cursorOfName,
  inOrder,
  isText,
  nameAsText,
  nameOfCursor,
  SortedRuns,
  type NamesSource,
} from './sorted-names.ts';
import { verifyPackage, type VerificationContext } from './verification.ts';
import { ByteBoundedCache } from './byte-bounded-cache.ts';
import { quoted, type PackageEntry } from './package-checks.ts';

export interface IncompleteQuery {
  readonly limit?: number;
  /** Only entries whose name comes after this one: `next` of the page before. */
  readonly after?: string;
}

export interface IncompleteListing {
  readonly incomplete: readonly IncompleteAttempt[];
  readonly next: string | null;
}

/** One name that was looked at; null where the attempt became a snapshot. */
export interface AttemptLook {
  readonly entry: IncompleteAttempt | null;
  readonly cursor: string;
  readonly isLast: boolean;
}

export interface StagingSource {
  /** Names of the room of attempts, each character one byte. */
  readonly names: NamesSource;
  /** Null where the attempt became a snapshot. */
  readonly inspect: (name: string, signal: AbortSignal) => Promise<IncompleteAttempt | null>;
  /** Inspections under way at once. */
  readonly width: number;
}

export async function* lookAtAttempts(
  source: StagingSource,
  { after, limit }: IncompleteQuery,
  signal?: AbortSignal,
): AsyncGenerator<AttemptLook, void, void> {
  const ended = new AbortController();
  const all = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const start = after === undefined ? undefined : nameOfCursor(after);
  try {
    const names = source.names.areOrdered
      ? inOrder(source.names.from(start))
      : await sorted(source.names.from(start), start, all);
    const width = Math.max(1, Math.min(source.width, limit ?? source.width));
    const looks = pMapIterable(
      names,
      async ({ item: name, isLast }): Promise<AttemptLook> => {
        all.throwIfAborted();
        const entry = isText(name) ? await source.inspect(nameAsText(name), all) : unnamable(name);
        return { entry, cursor: cursorOfName(name), isLast };
      },
      { concurrency: width, backpressure: width },
    );
    for await (const look of looks) {
      all.throwIfAborted();
      yield look;
    }
  } finally {
    ended.abort(new Error('The inspection is over.'));
  }
}

async function sorted(
  pieces: AsyncIterable<readonly string[]>,
  start: string | undefined,
  signal: AbortSignal,
): Promise<SortedRuns<string>> {
  const runs = new SortedRuns<string>(byBytes);
  for await (const names of pieces) {
    signal.throwIfAborted();
    runs.add(names.filter((name) => start === undefined || name > start));
  }
  return runs;
}

/** A page ends after so many bytes of entries, or so long a time, also before its `limit`; then `next` leads on. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_MS = 5_000;

/** Collects a page; without a `limit` everything. */
export async function collectAttempts(
  looks: AsyncIterable<AttemptLook>,
  { limit }: IncompleteQuery,
): Promise<IncompleteListing> {
  const incomplete: IncompleteAttempt[] = [];
  const startedAt = performance.now();
  let bytes = 0;
  for await (const { entry, cursor, isLast } of looks) {
    if (entry !== null) incomplete.push(entry);
    if (limit === undefined || isLast) continue;
    if (entry !== null) bytes += Buffer.byteLength(JSON.stringify(entry));
    const isFull =
      incomplete.length >= limit || bytes > PAGE_BYTES || performance.now() - startedAt > PAGE_MS;
    if (isFull) return { incomplete, next: cursor };
  }
  return { incomplete, next: null };
}

/** A name that is no text fits into no path of the port: it is shown, and what it holds is not looked at. */
function unnamable(name: string): IncompleteAttempt {
  return {
    path: `${STAGING}/${Buffer.from(name, 'latin1').toString('utf8')}`,
    snapshot_id: null,
    phase: 'UNAVAILABLE',
    diagnostic: `The name, ${quoted(nameAsText(name))} with its bytes as \\xNN, is no UTF-8 and not that of an attempt; nothing in it was looked at.`,
    byte_length: '0',
    modified_at: null,
  };
}

export const MAX_INTENT_BYTES = 256;

/** What is known of an attempt so far. */
export interface AttemptFacts {
  /** Where it lies, relative to the root. */
  readonly path: string;
  readonly name: string;
  readonly snapshotId: SnapshotId | null;
  readonly byteLength: bigint;
  readonly modifiedNs: bigint | null;
}

/** Wherever it lies: what its names say first, then its proof. Throws what the proof throws; see `reportOf`. */
export async function judgeAttempt(
  facts: AttemptFacts,
  entries: readonly PackageEntry[],
  prove: (snapshotId: SnapshotId) => Promise<unknown>,
  unpublished: string,
): Promise<IncompleteAttempt> {
  const { name, snapshotId } = facts;
  if (!isAttemptName(name)) {
    return report(facts, 'INVALID', 'The name is not that of an attempt (32 lowercase hex digits).');
  }
  const irregular = entries.find((entry) => entry.kind !== 'file');
  if (irregular !== undefined) {
    const found = `${quoted(irregular.name)} is a ${irregular.kind}`;
    return report(facts, 'INVALID', `An attempt holds regular files only; ${found}.`);
  }
  if (!entries.some((entry) => entry.name === INTENT_FILE))
    return report(facts, 'INVALID', `${INTENT_FILE} is missing: the attempt ended before it was written.`);
  if (snapshotId === null) {
    return report(facts, 'INVALID', `${INTENT_FILE} does not name a snapshot in canonical JSON.`);
  }
  if (!entries.some((entry) => entry.name === MARKER_FILE)) {
    const files = entries.length - 1;
    const held = files === 1 ? '1 further file' : `${files} further files`;
    return report(
      facts,
      'STAGING',
      `No completion marker: still being written, refused, or interrupted, with ${held}.`,
    );
  }
  await prove(snapshotId);
  return report(facts, 'VALIDATED', unpublished);
}

/** The report of an attempt whose proof was refused. */
export function refusedAttempt(facts: AttemptFacts, error: SnapshotError): IncompleteAttempt {
  const unreadable =
    error.code === 'unavailable' || (error.code === 'storage_integrity' && isUnreadable(error));
  return report(facts, unreadable ? 'UNAVAILABLE' : 'INVALID', error.message);
}

/** Null where the entry is gone: a publication renamed it away after it was listed. */
export async function inspectAttempt(
  context: VerificationContext,
  staging: string,
  name: string,
  turn: Turn,
): Promise<IncompleteAttempt | null> {
  const { fs } = context;
  const directory = `${staging}/${name}`;
  let facts: AttemptFacts = {
    path: `${STAGING}/${name}`,
    name,
    snapshotId: null,
    byteLength: 0n,
    modifiedNs: null,
  };
  try {
    const own = fs.statEntry(directory);
    facts = { ...facts, modifiedNs: own.mtimeNs };
    if (own.kind !== 'directory') {
      const size = own.kind === 'file' ? own.size : 0n;
      return report(
        { ...facts, byteLength: size },
        'INVALID',
        `An attempt must be a directory, found a ${own.kind}.`,
      );
    }
    const entries = fs.listDirectory(directory);
    facts = measure(fs, directory, own, entries, facts);
    const intent = entries.some((entry) => entry.name === INTENT_FILE && entry.kind === 'file');
    if (intent) facts = { ...facts, snapshotId: readIntent(fs, directory) };
    const prove = (snapshotId: SnapshotId) =>
      verifyPackage(context, { directory, snapshotId, stage: 'complete', payloads: 'all' }, turn);
    return await judgeAttempt(facts, entries, prove, NOT_RENAMED);
  } catch (error) {
    return failed(fs, directory, facts, error);
  }
}

const NOT_RENAMED = 'A complete package that was not renamed into snapshots/: it is not published.';

function failed(
  fs: FileSystemReader,
  directory: string,
  facts: AttemptFacts,
  error: unknown,
): IncompleteAttempt | null {
  if (wasRenamedAway(fs, directory, facts.name)) return null;
  if (isAnySnapshotError(error)) return refusedAttempt(facts, error);
  const code = errnoOf(error);
  if (code === undefined) throw error;
  return report(facts, 'UNAVAILABLE', `The attempt cannot be read (${code}).`);
}

function isUnreadable(error: SnapshotError): boolean {
  return 'problem' in error.details && error.details.problem === 'unreadable';
}

/** Only attempts leave staging; a foreign name that was listed and is not found stays in sight. */
function wasRenamedAway(fs: FileSystemReader, directory: string, name: string): boolean {
  if (!isAttemptName(name)) return false;
  try {
    fs.statEntry(directory);
    return false;
  } catch (error) {
    return isMissing(error);
  }
}

function readIntent(fs: FileSystemReader, directory: string): SnapshotId | null {
  const bytes = withFile(fs, `${directory}/${INTENT_FILE}`, INTENT_FILE, 'intent', (file) =>
    readAtMost(fs, file, MAX_INTENT_BYTES),
  );
  return idOfIntent(bytes);
}

/** The id that an intent names, or null where it is none. */
export function idOfIntent(bytes: Uint8Array): SnapshotId | null {
  try {
    const value = parseStrictJson(bytes);
    if (value === null || typeof value !== 'object' || !('snapshot_id' in value)) return null;
    const id = value['snapshot_id'];
    if (!isSnapshotId(id)) return null;
    return Buffer.from(intentBytes(id)).equals(bytes) ? id : null;
  } catch {
    return null;
  }
}

/** What is kept of the reasons for which attempts were refused, in all and of each. */
const REASON_BYTES = 2 * 1024 * 1024;
const MAX_REASON = 1_000;
const REASON_OVERHEAD = 100;

/** An attempt shows what lies in it, and never why it ended; that is kept while the process lives. */
export class RefusalReasons {
  /** By the location of the attempt. */
  readonly #reasons = new ByteBoundedCache<string, string>(REASON_BYTES);

  keep(error: unknown): void {
    if (!isAnySnapshotError(error) || error.attempt === undefined) return;
    const detail = messageInFull(error);
    const reason = `${error.code}: ${detail.length > MAX_REASON ? `${detail.slice(0, MAX_REASON)}…` : detail}`;
    this.#reasons.set(error.attempt, reason, 2 * (error.attempt.length + reason.length) + REASON_OVERHEAD);
  }

  addTo(attempt: IncompleteAttempt | null): IncompleteAttempt | null {
    const reason = attempt === null ? undefined : this.#reasons.get(attempt.path);
    if (attempt === null || reason === undefined) return attempt;
    return { ...attempt, diagnostic: `${attempt.diagnostic} It was refused with ${reason}` };
  }
}

function measure(
  fs: FileSystemReader,
  directory: string,
  own: FileStat,
  entries: readonly DirectoryEntry[],
  facts: AttemptFacts,
): AttemptFacts {
  let byteLength = 0n;
  let modifiedNs = own.mtimeNs;
  for (const entry of entries) {
    if (entry.kind !== 'file') continue;
    const stat = fs.statEntry(`${directory}/${entry.name}`);
    byteLength += stat.size;
    if (stat.mtimeNs > modifiedNs) modifiedNs = stat.mtimeNs;
  }
  return { ...facts, byteLength, modifiedNs };
}

export function report(facts: AttemptFacts, phase: Phase, diagnostic: string): IncompleteAttempt {
  return {
    path: facts.path,
    snapshot_id: facts.snapshotId,
    phase,
    diagnostic,
    byte_length: String(facts.byteLength),
    modified_at: facts.modifiedNs === null ? null : isoTime(facts.modifiedNs),
  };
}

/** Null for times that ISO 8601 has no four-digit year for: file systems store any 64-bit number. */
function isoTime(epochNs: bigint): string | null {
  const time = new Date(Number(epochNs / 1_000_000n));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

export interface StagingMeasure {
  readonly count: number;
  /** Bytes of the regular files. */
  readonly byteLength: bigint;
}

/** What one attempt holds, as it was found. */
export interface AttemptMeasure {
  readonly byteLength: bigint;
  /** Of the directory: changes with every file that is made in it. */
  readonly ctimeNs: bigint;
  /** Of the directory and all its files. */
  readonly modifiedNs: bigint;
}

/** Measures attempts from names and sizes alone; null where one has the state that is known, is gone or is no directory. */
export function measureAttempts(
  fs: FileSystemReader,
  staging: string,
  attempts: readonly { readonly name: string; readonly ctimeNs: bigint | null }[],
): (AttemptMeasure | 'unchanged' | 'gone')[] {
  return attempts.map(({ name, ctimeNs }) => {
    const directory = `${staging}/${name}`;
    try {
      const own = fs.statEntry(directory);
      if (own.ctimeNs === ctimeNs) return 'unchanged';
      const facts = { path: name, name, snapshotId: null, byteLength: 0n, modifiedNs: null };
      if (own.kind !== 'directory') return { byteLength: 0n, ctimeNs: own.ctimeNs, modifiedNs: own.mtimeNs };
      const { byteLength, modifiedNs } = measure(fs, directory, own, fs.listDirectory(directory), facts);
      return { byteLength, ctimeNs: own.ctimeNs, modifiedNs: modifiedNs ?? own.mtimeNs };
    } catch (error) {
      if (isMissing(error)) return 'gone';
      throw error;
    }
  });
}

/** Attempts that are measured at once. */
const MEASURED_AT_ONCE = 256;
/** An attempt in which nothing moved for so long is not being written any more: its size is remembered. */
const SETTLED_NS = 600_000_000_000n;
/** Attempts remembered, each some 100 bytes; those beyond are measured every time. */
const MAX_REMEMBERED = 100_000;

/** Measures staging again and again: a scrape looks at each settled attempt once, and not at every file every time. */
export class StagingMeter {
  readonly #names: () => AsyncIterable<readonly string[]>;
  readonly #measure: (
    attempts: readonly { readonly name: string; readonly ctimeNs: bigint | null }[],
  ) => Promise<(AttemptMeasure | 'unchanged' | 'gone')[]>;
  #settled = new Map<string, AttemptMeasure>();
  #running: Promise<StagingMeasure> | null = null;

  constructor(
    names: () => AsyncIterable<readonly string[]>,
    measure: (
      attempts: readonly { readonly name: string; readonly ctimeNs: bigint | null }[],
    ) => Promise<(AttemptMeasure | 'unchanged' | 'gone')[]>,
  ) {
    this.#names = names;
    this.#measure = measure;
  }

  /** Whoever asks while it is being measured gets the same answer. */
  measure(): Promise<StagingMeasure> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<StagingMeasure> {
    const before = this.#settled;
    const settled = new Map<string, AttemptMeasure>();
    const settledBefore = BigInt(Date.now()) * 1_000_000n - SETTLED_NS;
    let count = 0;
    let byteLength = 0n;
    for await (const names of this.#names()) {
      count += names.length;
      const texts = names.filter(isText).map(nameAsText);
      for (let at = 0; at < texts.length; at += MEASURED_AT_ONCE) {
        const batch = texts.slice(at, at + MEASURED_AT_ONCE);
        const found = await this.#measure(
          batch.map((name) => ({ name, ctimeNs: before.get(name)?.ctimeNs ?? null })),
        );
        for (const [index, name] of batch.entries()) {
          const answer = found[index] ?? 'gone';
          const measured = answer === 'unchanged' ? before.get(name) : answer;
          if (measured === undefined || measured === 'gone') continue;
          byteLength += measured.byteLength;
          const isSettled = measured.modifiedNs < settledBefore && settled.size < MAX_REMEMBERED;
          if (isSettled) settled.set(name, measured);
        }
      }
    }
    this.#settled = settled;
    return { count, byteLength };
  }
}
