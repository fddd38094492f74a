/** What the page asks of the service that it came from, typed by the OpenAPI document. */
import { signal } from '@preact/signals';
import type { DamagedSnapshot, Json, Path, Problem, Query, SnapshotSummary } from './answers.ts';

/** The folder that the page lies in: the service's address, whatever base path it has. */
const BASE = new URL('.', location.href).href;

/** The absolute address of a resource. */
export function addressOf(path: string): string {
  return BASE + path.replace(/^\//u, '');
}

/** Another service at another path of this host has a token of its own. */
const TOKEN_KEY = `pipewhy-snapshots token of ${BASE}`;

/** Kept for this tab only. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY));

export function keepToken(given: string | null): void {
  if (given === null) sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, given);
  token.value = given;
}

export function authorization(): Record<string, string> {
  return token.value === null ? {} : { authorization: `Bearer ${token.value}` };
}

/** What is known of a refusal: a problem document, or what the page itself has to say. */
export type Told = Partial<Omit<Problem, 'title'>> & { readonly title?: string };

/** A refusal: what the service says of it, or that it said nothing. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Told;

  constructor(status: number, problem: Told) {
    super(problem.detail ?? `The service answered ${status} and did not say why.`);
    this.status = status;
    this.code = problem.code ?? String(status);
    this.problem = problem;
  }
}

const UNREACHABLE =
  'The service does not answer, or the answer was broken off. Is it running? Then try again.';

/** Any refusal is thrown as such; a connection that failed is one without a status. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...authorization(), ...(init.headers as Record<string, string> | undefined) };
  const response = await whole(() => fetch(addressOf(path), { ...init, headers }), init.signal);
  if (response.ok) return response;
  throw new Refusal(response.status, problemIn(await whole(() => response.text(), init.signal)));
}

/** What is thrown where the connection breaks says so; an abort stays one. */
export async function whole<T>(read: () => Promise<T>, aborted?: AbortSignal | null): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (aborted?.aborted === true) throw error;
    throw new Refusal(0, { detail: UNREACHABLE });
  }
}

export function problemIn(text: string): Partial<Problem> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

export async function getJson<P extends Path>(
  path: P,
  { query, signal: aborted, ids }: { query?: Query<P>; signal: AbortSignal; ids?: Record<string, string> },
): Promise<Json<P>> {
  const filled = path.replace(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(ids?.[name] ?? ''));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries<string | number | undefined>(query ?? {})) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const search = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const response = await ask(filled + search, { signal: aborted });
  return (await whole(() => response.json(), aborted)) as Json<P>;
}

/** Entries of listings are proven by their frame, and damaged ones shown: so a store in trouble can be looked at. */
export const LOOK = { proof: 'frame', damaged: 'show' } as const;

export function isDamaged(entry: SnapshotSummary | DamagedSnapshot): entry is DamagedSnapshot {
  return 'problem' in entry;
}

/** What a listing says of one id, without reading its payloads; null where it is not there. */
export async function lookUp(
  id: string,
  aborted: AbortSignal,
): Promise<SnapshotSummary | DamagedSnapshot | null> {
  const before = BigInt(`0x${id}`) - 1n;
  const { snapshots } = await getJson('/snapshots', {
    signal: aborted,
    query: {
      ...LOOK,
      limit: 1,
      order: 'id',
      ...(before < 0n ? {} : { after: before.toString(16).padStart(32, '0') }),
    },
  });
  return snapshots.find((entry) => entry.snapshot_id === id) ?? null;
}
