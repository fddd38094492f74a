/** A store by its address, for the verbs that name two: a directory, a bucket on an S3 engine, or a service. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { ListedSnapshot, ListFilters, ListPageOptions, SnapshotClient } from '../client/index.ts';
import type { Declarations } from '../contract/contexts.ts';
import { SNAPSHOTS } from '../store/layout.ts';
import type { ListingQuery } from '../store/listing.ts';
import type { SnapshotStore } from '../store/snapshot-store.ts';
import { openClient, positiveNumber, withJson, type Lister, type OutputOptions } from './connection.ts';
import { reasonOf, wrongUse } from './errors.ts';

/** What every kind of store gives, whatever it lies on; the rest is the business of its kind. */
interface Opened extends Lister {
  /** As it was typed. */
  readonly address: string;
  /** Everything that is published and passes, by id; read as it is taken. */
  list(filters: ListFilters, signal: AbortSignal): AsyncIterable<ListedSnapshot>;
  close(): Promise<void>;
}

export interface OpenedService extends Opened {
  readonly kind: 'service';
  readonly client: SnapshotClient;
}

/** A store that is opened here: in a directory or a bucket. */
export interface OpenedHere extends Opened {
  readonly kind: 'store';
  readonly store: SnapshotStore;
}

export type OpenedStore = OpenedService | OpenedHere;

/** The two sides of a verb, as its arguments are called. */
export type SideName = 'from' | 'to';

export interface TwoStoresOptions extends OutputOptions {
  readonly token?: string;
  readonly fromToken?: string;
  readonly toToken?: string;
  readonly fromSocket?: string;
  readonly toSocket?: string;
  readonly timeout?: number;
  readonly contexts?: string;
}

export const ADDRESS_HELP = `FROM and TO are each a directory that holds a store, s3://bucket/prefix on an S3 engine (reached as every
S3 tool does: AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_ACCESS_KEY_ID and so on), or the http:// or https:// URL of a
service.`;

export function withAddresses(command: Command): Command {
  return withJson(command)
    .addOption(new Option('--token <token>', 'bearer token of both services').env('SNAPSHOTS_TOKEN'))
    .addOption(new Option('--from-token <token>', 'that of FROM alone').env('SNAPSHOTS_FROM_TOKEN'))
    .addOption(new Option('--to-token <token>', 'that of TO alone').env('SNAPSHOTS_TO_TOKEN'))
    .option('--from-socket <path>', 'unix socket on which the service FROM listens')
    .option('--to-socket <path>', 'unix socket on which the service TO listens')
    .option('--timeout <seconds>', 'give up on a service when nothing comes for this long', positiveNumber)
    .addOption(
      new Option(
        '--contexts <file>',
        'the C3 declarations for a directory or bucket; by default those of the service on the other side',
      ).env('SNAPSHOTS_CONTEXTS'),
    );
}

interface Address {
  readonly kind: 'service' | 'bucket' | 'directory';
  readonly text: string;
}

/**
 * Runs `work` with the stores at two addresses and closes them. A directory named in `mayBeMissing` that is not there is an
 * empty store, made when something is published in it. Throws `CommandError` `usage` for any other that holds no store, and
 * for what is no address.
 */
export async function withTwoStores<T>(
  addresses: Readonly<Record<SideName, string>>,
  options: TwoStoresOptions,
  work: (stores: Readonly<Record<SideName, OpenedStore>>) => Promise<T>,
  mayBeMissing: readonly SideName[] = [],
): Promise<T> {
  const sides = (['from', 'to'] as const).map(
    (side) => [side, addressOf(side, addresses[side], options)] as const,
  );
  const opened: Partial<Record<SideName, OpenedStore>> = {};
  try {
    // Services first: what one of them declares holds for a directory or bucket beside it.
    for (const [side, { kind, text }] of sides) {
      if (kind === 'service') opened[side] = await openService(side, text, options);
    }
    const service = opened.from ?? opened.to;
    const declared = once(() => declarationsFor(options, service));
    for (const [side, { kind, text }] of sides) {
      if (kind === 'directory') await checkDirectory(text, mayBeMissing.includes(side));
      opened[side] ??= await openHere(text, await declared(), service === undefined);
    }
    const { from, to } = opened;
    if (from === undefined || to === undefined) throw new Error('Both sides are open.');
    return await work({ from, to });
  } finally {
    for (const store of Object.values(opened)) await store.close();
  }
}

const SCHEME = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\//iu;

function addressOf(side: SideName, text: string, { fromSocket, toSocket }: TwoStoresOptions): Address {
  const name = side.toUpperCase();
  const scheme = SCHEME.exec(text)?.groups?.['scheme']?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return { kind: 'service', text };
  const isBucket = text.startsWith('s3://');
  if (text === '' || (scheme !== undefined && !isBucket)) {
    throw wrongUse(
      `${name} ${JSON.stringify(text)} is no address of a store: expected a directory, s3://bucket/prefix, or the http:// ` +
        'or https:// URL of a service',
    );
  }
  const socket = side === 'from' ? fromSocket : toSocket;
  if (socket !== undefined) {
    throw wrongUse(
      `--${side}-socket is for a service, and ${name} ${text} is none; name the service as http://localhost`,
    );
  }
  return { kind: isBucket ? 'bucket' : 'directory', text };
}

async function openService(side: SideName, url: string, options: TwoStoresOptions): Promise<OpenedService> {
  const { timeout, token: both } = options;
  const [own, socket] =
    side === 'from' ? [options.fromToken, options.fromSocket] : [options.toToken, options.toSocket];
  // A variable that is set to nothing counts as not set.
  const token = own === undefined || own === '' ? both : own;
  const client = await openClient(
    {
      url,
      ...(token === undefined ? {} : { token }),
      ...(socket === undefined ? {} : { socket }),
      ...(timeout === undefined ? {} : { timeout }),
    },
    {},
    {
      baseUrl: side.toUpperCase(),
      token: `--${side}-token (SNAPSHOTS_${side.toUpperCase()}_TOKEN)`,
      socketPath: `--${side}-socket`,
    },
  );
  return {
    kind: 'service',
    address: url,
    client,
    listPage: (query) => client.listPage(query),
    list: (filters, signal) => client.list({ ...filters, signal, pageSize: PAGE_SIZE }),
    close: () => client.close(),
  };
}

/** The most that a service gives at once. */
const PAGE_SIZE = 1000;

/** Where both sides are opened here, they share the cores: each thread has memory of its own. */
async function openHere(root: string, declarations: Declarations, both: boolean): Promise<OpenedHere> {
  // Only here: between two services no store is needed.
  const [{ openStore }, { defaultThreads }] = await Promise.all([
    import('../open-store.ts'),
    import('../store/worker-pool.ts'),
  ]);
  const threads = Math.ceil(defaultThreads() / (both ? 2 : 1));
  const store = await openStore(root, { declarations, threads });
  return {
    kind: 'store',
    address: root,
    store,
    listPage: async ({ signal, ...query }) => {
      const { snapshots, next } = await store.listSnapshots(listingQuery(query), { signal });
      return { items: snapshots, next };
    },
    list: (filters, signal) => store.streamSnapshots(listingQuery(filters), { signal }),
    close: () => store.close(),
  };
}

/** A typing error must not pass for an empty store. */
async function checkDirectory(root: string, mayBeMissing: boolean): Promise<void> {
  const room = await opendir(join(root, SNAPSHOTS)).catch((error: unknown) => {
    const reason = reasonOf(error);
    if (mayBeMissing && reason === 'ENOENT') return null;
    throw wrongUse(`${root} is no store: its directory ${SNAPSHOTS} cannot be listed (${reason})`);
  });
  await room?.close();
}

/** What a client calls the parameters of a listing, as a store takes them. */
function listingQuery({ since, until, ...query }: Omit<ListPageOptions, 'signal'>): ListingQuery {
  const times = { since: since?.toString(), until: until?.toString() };
  return Object.fromEntries(
    Object.entries({ ...query, ...times }).filter(([, value]) => value !== undefined),
  );
}

/** The file that is named, or what the service beside the directory declares, or the shipped example with a warning. */
async function declarationsFor(
  { contexts }: TwoStoresOptions,
  service: OpenedStore | undefined,
): Promise<Declarations> {
  const { loadDeclarations, namedDeclarations } = await import('./local-store.ts');
  if (namedDeclarations(contexts) === null && service?.kind === 'service') return service.client.contexts();
  return loadDeclarations(contexts);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}
