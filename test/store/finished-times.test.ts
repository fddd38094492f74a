/** Times for the order `newest`: looked up once, whoever asks, and again where whoever looked them up left or was refused. */
import { expect, test } from 'vitest';

import type { Manifest } from '../../src/contract/manifest.ts';
import { FinishedTimes, lookAtSnapshots, type ListedManifest } from '../../src/store/listing.ts';
import { idOf, metadataOf } from '../support/stores.ts';

const listed = (id: string): ListedManifest => ({
  manifest: { snapshot: metadataOf(id), arrays: {} } as unknown as Manifest,
  manifestSha256: '',
});
const ID = idOf(1);

test('listings that run beside each other look each time up once', async () => {
  let proofs = 0;
  const times = new FinishedTimes(async (id) => {
    proofs += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return listed(id);
  });
  const { signal } = new AbortController();
  const asked = await Promise.all([1, 2, 3].map(() => times.of(ID, signal)));
  expect(new Set(asked)).toEqual(new Set([1761782401000000001n]));
  expect(await times.of(ID, signal)).toBe(asked[0]);
  expect(proofs).toBe(1);
});

test('one that leaves takes nothing from the others', async () => {
  const times = new FinishedTimes(async (id, signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return listed(id);
  });
  const leaving = new AbortController();
  const first = times.of(ID, leaving.signal);
  const second = times.of(ID, new AbortController().signal);
  leaving.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  await expect(second).resolves.toBe(1761782401000000001n);
});

test('times that are remembered are ordered with turns for everyone else', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => idOf(index + 1));
  const looks = lookAtSnapshots(
    {
      names: {
        areOrdered: false,
        from: async function* () {
          yield names;
          await Promise.resolve();
        },
      },
      prove: async (id) => listed(id),
      finishedAt: async () => 1761782401000000001n,
      width: 4,
    },
    { order: 'newest', proof: 'frame' },
  );
  let turns = 0;
  let ended = false;
  const count = (): void => {
    turns += 1;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  expect((await looks.next()).value).toMatchObject({ entry: { snapshot_id: idOf(1) } });
  ended = true;
  await looks.return();
  expect(turns).toBeGreaterThan(8);
});
