/** What the service counts, in Prometheus' terms; one registry per service, none of it global. */
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SnapshotStore } from '../store/snapshot-store.ts';
import type { EngineAnswer } from '../s3/objects.ts';
import type { SyncKind } from '../store/file-system.ts';
import type { ExchangeEnd, Outcome } from './connections.ts';
import type { Transfers } from './transfers.ts';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const SYNC_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const PREFIX = 'pipewhy_snapshots_';

/** A metric and its values as one process has counted them; plain data. */
export type CountedMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

export class Metrics {
  /** What this process counts. */
  readonly registry = new Registry();
  /** What is looked up of the store, which is one for all processes. */
  readonly #ofStore = new Registry();
  readonly contentType = this.registry.contentType;
  #gather = (): Promise<string> => this.registry.metrics();
  readonly #requests = this.#counter('requests_total', 'Requests ended, by route, status and problem code', [
    'method',
    'route',
    'status',
    'code',
  ]);
  readonly #publications = this.#counter(
    'publications_total',
    'Publications ended, by problem code or "published"',
    ['outcome'],
  );
  readonly #payloadBytes = this.#counter('published_bytes_total', 'Payload bytes of published snapshots', []);
  readonly #received = this.#counter('received_bytes_total', 'Bytes read from clients', []);
  readonly #sent = this.#counter('sent_bytes_total', 'Bytes written to clients', []);
  readonly #integrity = this.#counter(
    'integrity_failures_total',
    'Answers that stored bytes could not be proven',
    [],
  );
  readonly #duration = new Histogram({
    name: `${PREFIX}request_duration_seconds`,
    help: 'From the head of a request to the end of its answer',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers: [this.registry],
  });
  readonly #syncs = new Histogram({
    name: `${PREFIX}sync_duration_seconds`,
    help: 'fdatasync and fsync, by what was synced',
    labelNames: ['kind'],
    buckets: SYNC_SECONDS,
    registers: [this.registry],
  });

  readonly #engineRequests = this.#counter(
    'engine_requests_total',
    'Requests to the S3 engine, by operation and status of the last attempt',
    ['operation', 'status'],
  );
  readonly #engineRetries = this.#counter(
    'engine_retries_total',
    'Attempts at requests to the S3 engine beyond the first',
    ['operation'],
  );
  readonly #engineDuration = new Histogram({
    name: `${PREFIX}engine_request_duration_seconds`,
    help: 'Requests to the S3 engine, all attempts, up to the head of the answer',
    labelNames: ['operation'],
    buckets: REQUEST_SECONDS,
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** All of it in Prometheus' text format. */
  async text(): Promise<string> {
    return `${await this.#gather()}\n${await this.#ofStore.metrics()}`;
  }

  /** What this process has counted, for adding it to what others have. */
  counts(): Promise<readonly CountedMetric[]> {
    return this.registry.getMetricsAsJSON();
  }

  /** Of several processes: `text` has the counts of all, as `gather` gives them, whichever of them is asked. */
  gatherBy(gather: () => Promise<string>): void {
    this.#gather = gather;
  }

  /** For the store's file system. */
  readonly observeSync = (kind: SyncKind, seconds: number): void => {
    this.#syncs.observe({ kind }, seconds);
  };

  /** For a store on an engine. */
  readonly observeEngine = ({ operation, status, retries, seconds }: EngineAnswer): void => {
    this.#engineRequests.inc({ operation, status: status === null ? 'none' : String(status) });
    this.#engineRetries.inc({ operation }, retries);
    this.#engineDuration.observe({ operation }, seconds);
  };

  /** Gauges that are looked up when they are asked for; none of them reads a payload. */
  watch(store: SnapshotStore, transfers: Transfers): void {
    this.#lookUp('uploads_in_flight', 'Uploads that run', () => transfers.uploads);
    this.#lookUp('downloads_in_flight', 'Downloads that run', () => transfers.downloads);
    this.#lookUp('threads', 'Threads that prove and store payloads', () => store.threads.running);
    counterOver(
      this.registry,
      'threads_lost_total',
      'Threads that died and were replaced',
      () => store.threads.lost,
    );
    this.#lookUpStore('snapshots', 'Entries in snapshots/', async () => (await store.published()).count);
    this.#lookUpStore(
      'last_publication_timestamp_seconds',
      'When a snapshot was last published',
      async () => {
        const { lastNs } = await store.published();
        return lastNs === null ? null : Number(lastNs / 1_000_000n) / 1000;
      },
    );
    this.#lookUpStore('free_bytes', 'Bytes free on the disk of the root', async () => {
      const room = await store.freeRoom();
      return room === null ? null : Number(room.free);
    });
    this.#lookUpStore('free_inodes', 'Inodes free on the disk of the root', async () => {
      const room = await store.freeRoom();
      const inodes = room?.freeInodes ?? null;
      return inodes === null ? null : Number(inodes);
    });
    this.#lookUpStore('incomplete_attempts', 'Attempts in staging/', async () => {
      const measure = await store.measureIncomplete();
      return measure === null ? null : measure.count;
    });
    this.#lookUpStore('incomplete_bytes', 'Bytes of the attempts in staging/', async () => {
      const measure = await store.measureIncomplete();
      return measure === null ? null : Number(measure.byteLength);
    });
  }

  /** For the process that writes the log. */
  watchLog(lines: { readonly dropped: number }): void {
    counterOver(
      this.registry,
      'log_lines_dropped_total',
      'Lines of the log that could not be written',
      () => lines.dropped,
    );
  }

  /** Counts a request that is over, however it ended. */
  countRequest(method: string, route: string, outcome: Outcome, end: ExchangeEnd): void {
    const { code = '', payloadBytes } = outcome;
    this.#requests.inc({ method, route, status: end.status === null ? 'none' : String(end.status), code });
    this.#duration.observe({ method, route }, end.seconds);
    this.#received.inc(end.bytesIn);
    this.#sent.inc(end.bytesOut);
    if (code === 'storage_integrity') this.#integrity.inc();
    if (method === 'POST' && route.endsWith('/snapshots')) {
      this.#publications.inc({ outcome: code === '' ? 'published' : code });
    }
    if (payloadBytes !== undefined) this.#payloadBytes.inc(payloadBytes);
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  #lookUp(name: string, help: string, value: () => number): void {
    gaugeOver(this.registry, name, help, value);
  }

  #lookUpStore(name: string, help: string, value: () => Promise<number | null>): void {
    gaugeOver(this.#ofStore, name, help, value);
  }
}

/** What the first of several processes knows: how many serve, and what those that died have counted. */
export class GatheredMetrics {
  readonly #own = new Registry();
  #gone: readonly CountedMetric[] = [];

  constructor(processes: { readonly running: number; readonly lost: number }) {
    gaugeOver(this.#own, 'processes', 'Processes that serve', () => processes.running);
    counterOver(
      this.#own,
      'processes_lost_total',
      'Serving processes that died and were replaced',
      () => processes.lost,
    );
  }

  /** Keeps the counters of a process that has died; what it was just doing is over. */
  async keep(counts: readonly CountedMetric[]): Promise<void> {
    const counters = counts.filter(({ type }) => String(type) !== 'gauge');
    this.#gone = await sumOf([this.#gone, counters]).getMetricsAsJSON();
  }

  /** The sums of these and of what the dead have counted, in Prometheus' text format. */
  async text(counts: readonly (readonly CountedMetric[])[]): Promise<string> {
    return `${await sumOf([...counts, this.#gone]).metrics()}\n${await this.#own.metrics()}`;
  }
}

function sumOf(counts: readonly (readonly CountedMetric[])[]): Registry {
  return AggregatorRegistry.aggregate(counts.map((one) => [...one]));
}

/** A gauge that is looked up when it is asked for; null for what cannot be told. */
function gaugeOver(
  registry: Registry,
  name: string,
  help: string,
  value: () => number | null | Promise<number | null>,
): void {
  new Gauge({
    name: PREFIX + name,
    help,
    registers: [registry],
    async collect() {
      try {
        const now = await value();
        if (now === null) this.remove();
        else this.set(now);
      } catch {
        // What cannot be told now is left out: a stale figure, or 0, would be taken for one.
        this.remove();
      }
    },
  });
}

/** A counter that somebody else counts. */
function counterOver(registry: Registry, name: string, help: string, value: () => number): void {
  new Counter({
    name: PREFIX + name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}
