/** Whatever happens between a store and its engine: nothing acknowledged is lost, nothing partial is shown, no wrong byte leaves. */
import { describe, expect, onTestFinished, test } from 'vitest';

import { isAnySnapshotError } from '../../src/contract/errors.ts';
import { S3SnapshotStore, type S3StoreOptions } from '../../src/s3/s3-snapshot-store.ts';
import { UnusableRootError } from '../../src/store/root.ts';
import { EngineRoot, NO_ENGINE } from '../support/engine.ts';
import { ENGINE_FAULTS, EngineProxy, type EngineFault } from '../support/engine-proxy.ts';
import { collect, declarations, idOf, metadataOf, pattern, refusalOf } from '../support/stores.ts';

const MINUTES = 60_000;
const IDS = new BigUint64Array([1n, 2n, 3n]);

interface Setting {
  readonly lying: EngineRoot;
  readonly proxy: EngineProxy;
  /** Past the proxy. */
  readonly direct: S3SnapshotStore;
  open(options?: Partial<S3StoreOptions>): Promise<S3SnapshotStore>;
}

async function setting(): Promise<Setting> {
  const lying = await EngineRoot.make();
  const proxy = await EngineProxy.before(lying.endpoint);
  const opened: S3SnapshotStore[] = [];
  const openAt = async (
    endpoint: string,
    options: Partial<S3StoreOptions> = {},
  ): Promise<S3SnapshotStore> => {
    const environment = { AWS_ENDPOINT_URL_S3: endpoint };
    const store = await S3SnapshotStore.open(lying.root, { declarations, environment, ...options });
    opened.push(store);
    return store;
  };
  onTestFinished(async () => {
    await Promise.all(opened.map((store) => store.close()));
    proxy.close();
    lying.close();
  });
  return {
    lying,
    proxy,
    direct: await openAt(lying.endpoint),
    open: (options) => openAt(proxy.url, options),
  };
}

/** What a publication came to, and that the store holds by it. */
async function judge(
  { direct, lying }: Setting,
  id: string,
  publication: Promise<unknown>,
): Promise<'published' | 'refused' | 'uncertain'> {
  const refusal = await publication.then(
    () => null,
    (error: unknown) => error,
  );
  if (refusal !== null && !isAnySnapshotError(refusal)) throw new Error('No refusal.', { cause: refusal });
  const found = await openedOrNull(direct, id);
  if (found !== null) expect(found.arrays).toEqual({ ids: IDS });
  if (refusal === null) {
    expect(found).not.toBeNull();
    return 'published';
  }
  if (refusal.code === 'publication_uncertain') return 'uncertain';
  expect(found).toBeNull();
  // Whatever lies there of an attempt is shown.
  const { incomplete } = await direct.inspectIncomplete();
  const shown = incomplete.map(({ path }) => path);
  const attempts = (await lying.names('packages/')).map((name) => name.split('/', 2).join('/'));
  if (refusal.attempt !== undefined && attempts.includes(refusal.attempt)) {
    expect(shown).toContain(refusal.attempt);
  }
  return 'refused';
}

async function openedOrNull(direct: S3SnapshotStore, id: string) {
  try {
    return await direct.open(id);
  } catch (error) {
    if (isAnySnapshotError(error) && error.code === 'snapshot_not_found') return null;
    throw error;
  }
}

async function everyRequest(fault: EngineFault, stays: boolean): Promise<Record<string, number>> {
  const place = await setting();
  // The first write into a bucket may take an engine longer than this store waits.
  await place.direct.prepare();
  const store = await place.open({ idleMs: 1_500 });
  await store.prepare();
  const outcomes: Record<string, number> = {};
  for (let at = 1; ; at += 1) {
    const id = idOf(at);
    place.proxy.arm({ fault, at, stays });
    const outcome = await judge(place, id, store.publish(metadataOf(id), { ids: IDS }));
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (place.proxy.requests < at) break;
  }
  place.proxy.arm(null);
  const { snapshots } = await store.listSnapshots();
  expect(snapshots.length).toBeGreaterThanOrEqual(outcomes['published'] ?? 0);
  const { incomplete } = await store.inspectIncomplete();
  expect(incomplete.every(({ phase }) => phase === 'STAGING' || phase === 'VALIDATED')).toBe(true);
  return outcomes;
}

describe.skipIf(NO_ENGINE)('between a store and its engine', () => {
  test.each(ENGINE_FAULTS)(
    'a publication survives or is refused when one request meets it, whichever: %s',
    async (fault) => {
      const outcomes = await everyRequest(fault, false);
      expect(outcomes['published']).toBeGreaterThan(0);
    },
    5 * MINUTES,
  );

  test.each(['cut before it arrives', 'answer dropped', 'no answer'] as const)(
    'a publication that ends at any request, as when the service is killed, is absent or whole: %s',
    async (fault) => {
      const outcomes = await everyRequest(fault, true);
      expect(outcomes['refused']).toBeGreaterThan(0);
      // At the commit itself nobody can know.
      expect(outcomes['uncertain']).toBeGreaterThan(0);
    },
    5 * MINUTES,
  );

  test.each(ENGINE_FAULTS)(
    'a read gives the bytes that were published or none, whichever request meets it: %s',
    async (fault) => {
      const place = await setting();
      const id = idOf(1);
      const large = pattern(3 * 1024 * 1024 + 5);
      await place.direct.publish(metadataOf(id), { large });
      const store = await place.open({ idleMs: 1_500 });
      let given = 0;
      for (let at = 1; ; at += 1) {
        place.proxy.arm({ fault, at, stays: false });
        try {
          const array = await store.openArray(id, 'large');
          expect((await collect(array.blocks())).equals(large)).toBe(true);
          given += 1;
        } catch (error) {
          if (!isAnySnapshotError(error)) throw error;
          expect(['unavailable', 'storage_integrity']).toContain(error.code);
        }
        if (place.proxy.requests < at) break;
      }
      expect(given).toBeGreaterThan(0);
    },
    5 * MINUTES,
  );

  test('of eight instances one creates a snapshot, and all of them read it', async () => {
    const place = await setting();
    const stores = await Promise.all(Array.from({ length: 8 }, () => place.open()));
    for (const id of [idOf(1), idOf(2), idOf(3)]) {
      const outcomes = await Promise.all(
        stores.map((store, index) =>
          store.publish(metadataOf(id), { ids: new BigUint64Array([BigInt(index)]) }).then(
            () => index,
            (error: unknown) => {
              if (isAnySnapshotError(error) && error.code === 'snapshot_exists') return null;
              throw error;
            },
          ),
        ),
      );
      const creators = outcomes.filter((outcome) => outcome !== null);
      expect(creators).toHaveLength(1);
      for (const store of stores) {
        expect((await store.open(id)).arrays).toEqual({ ids: new BigUint64Array([BigInt(creators[0]!)]) });
      }
    }
  });

  test('an engine that ignores If-None-Match is refused, and one that keeps it is not refused a second time', async () => {
    const place = await setting();
    await place.direct.prepare();
    await (await place.open()).prepare();
    expect(await place.lying.names()).toEqual(['conditional-writes.txt']);
    place.proxy.rewrite((_, status) => (status === 412 ? 200 : status));
    const store = await place.open();
    const refusal = await store.prepare().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnusableRootError);
    expect(String(refusal)).toContain('ignores If-None-Match');
  });

  test('a commit that contradicts its package, or is none, is damage that is named', async () => {
    const place = await setting();
    const id = idOf(1);
    await place.direct.publish(metadataOf(id), { ids: IDS });
    const commit = await place.lying.read(`snapshots/${id}`);
    for (const bytes of [
      Buffer.from(''),
      Buffer.from(commit.toString().replace(',', ', ')),
      Buffer.from(commit.toString().replace(/[0-9a-f]{64}/u, '0'.repeat(64))),
      Buffer.from(commit.toString().replace(/[0-9a-f]{32}/u, '0'.repeat(32))),
    ]) {
      await place.lying.write(`snapshots/${id}`, bytes);
      await refusalOf(place.direct.readManifest(id), 'storage_integrity');
      await refusalOf(place.direct.publish(metadataOf(id), { ids: IDS }), 'snapshot_exists');
    }
    await place.lying.write(`snapshots/${id}`, commit);
    await place.direct.readManifest(id);
  });

  test('pages follow the keys of the engine, and what is no commit is told once, on the page of its place', async () => {
    const place = await setting();
    const ids = [1, 2, 3, 4, 5].map(idOf);
    for (const id of ids) await place.direct.publish(metadataOf(id), { ids: IDS });
    await place.lying.write(`snapshots/${ids[1]!}.old`, Buffer.from('?'));
    await place.lying.write('snapshots/zzz/deeper', Buffer.from('?'));
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const query = { limit: 2, damaged: 'show', ...(after === undefined ? {} : { after }) } as const;
      const page = await place.direct.listSnapshots(query);
      seen.push(...page.snapshots.map(({ snapshot_id: id }) => id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual([ids[0], ids[1], `${ids[1]!}.old`, ids[2], ids[3], ids[4], 'zzz/']);
    const refusal = await refusalOf(place.direct.listSnapshots(), 'storage_integrity');
    expect(refusal.errors.map(({ path }) => path)).toEqual([`${ids[1]!}.old`, 'zzz/']);
    expect((await place.direct.listSnapshots({ limit: 1 })).next).toBe(ids[0]);
  });
});
