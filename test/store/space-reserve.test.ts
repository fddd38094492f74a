/** The reserve of the disk is kept to the byte, whatever comes, announced or not, and however many publish at once. */
import { describe, expect, test } from 'vitest';

import type { FileSystem } from '../../src/store/file-system.ts';
import { SpaceReserve, type Peers, type Promised, type SpaceClaim } from '../../src/store/space-reserve.ts';
import { emptyDirectory, memoryFileSystem } from '../support/memory-file-system.ts';
import { attemptsOf, idOf, metadataOf, refusalOf, storeAt, temporaryRoot } from '../support/stores.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';

const MIB = 1024 * 1024;
const RESERVE = 2 * MIB;
/** What a claim of so many arrays counts beside their bytes. */
const FILES = 5 * 4096;

/** A disk of which tests say how much is free, and two processes that serve it. */
function disk(free: number, freeInodes: number | null = null) {
  const told: Promised[] = [];
  const peers = (number: number): Peers => ({
    exchange: async (own) => {
      told[number] = own;
      // As from one process to another: not at once.
      await new Promise(setImmediate);
      return told[1 - number] ?? { bytes: 0n, files: 0n };
    },
    tell: (own) => {
      told[number] = own;
    },
  });
  const state = { free, freeInodes, looks: 0 };
  const fileSystem: FileSystem = {
    ...memoryFileSystem(emptyDirectory()),
    freeRoom: () => {
      state.looks += 1;
      return Promise.resolve({
        free: BigInt(state.free),
        total: BigInt(1024 * MIB),
        freeInodes: state.freeInodes === null ? null : BigInt(state.freeInodes),
      });
    },
  };
  const both = [0, 1].map((number) => new SpaceReserve(fileSystem, '/root', RESERVE, peers(number)));
  return {
    state,
    space: new SpaceReserve(fileSystem, '/root', RESERVE),
    both: both as [SpaceReserve, SpaceReserve],
  };
}

async function* chunksOf(length: number, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < length; sent += size) {
    await Promise.resolve();
    yield new Uint8Array(Math.min(size, length - sent));
  }
}

/** Writes like a publication: each chunk is in its file, and gone from the disk, `behind` chunks later. */
async function write(
  claim: SpaceClaim,
  state: { free: number },
  length: number,
  behind: number,
): Promise<void> {
  const onTheWay: number[] = [];
  const store = (): void => {
    const bytes = onTheWay.shift() ?? 0;
    state.free -= bytes;
    claim.stored(bytes);
  };
  try {
    for await (const chunk of claim.guard(chunksOf(length))) {
      onTheWay.push(chunk.length);
      if (onTheWay.length > behind) store();
    }
  } finally {
    while (onTheWay.length > 0) store();
  }
}

const bytes = (length: number) => ({ bytes: BigInt(length), files: 1 });

test.each([0, 1, 16, 48])(
  'unannounced bytes stop before the reserve, with %i blocks still on their way to the disk',
  async (behind) => {
    const { state, space } = disk(64 * MIB);
    const claim = await space.claim(bytes(0));
    await refusalOf(write(claim, state, 100 * MIB, behind), 'insufficient_storage');
    expect(state.free).toBeGreaterThanOrEqual(RESERVE);
    expect(state.free).toBeLessThan(RESERVE + 128 * 1024);
  },
);

test('several at once leave the reserve too', async () => {
  const { state, space } = disk(64 * MIB);
  const writing = Array.from({ length: 8 }, async () => {
    const claim = await space.claim(bytes(0));
    await refusalOf(write(claim, state, 40 * MIB, 16), 'insufficient_storage');
  });
  await Promise.all(writing);
  expect(state.free).toBeGreaterThanOrEqual(RESERVE);
});

test('what is announced and cannot fit is refused at once, to the byte', async () => {
  const { state, space } = disk(10 * MIB);
  await refusalOf(space.claim(bytes(8 * MIB - FILES + 1)), 'insufficient_storage');
  const claim = await space.claim(bytes(8 * MIB - FILES));
  await write(claim, state, 8 * MIB - FILES, 4);
  expect(state.free).toBeGreaterThanOrEqual(RESERVE);
});

test('what others have announced is not free, until they end or it has come', async () => {
  const { state, space } = disk(20 * MIB);
  const first = await space.claim(bytes(12 * MIB));
  await refusalOf(space.claim(bytes(8 * MIB)), 'insufficient_storage');
  await refusalOf(write(await space.claim(bytes(0)), state, 8 * MIB, 4), 'insufficient_storage');
  await write(first, state, 12 * MIB, 4);
  expect(state.free).toBeGreaterThanOrEqual(RESERVE);
  first.end();
  state.free = 20 * MIB;
  const again = await space.claim(bytes(12 * MIB));
  again.end();
  again.end();
  await space.claim(bytes(12 * MIB));
  await refusalOf(space.claim(bytes(12 * MIB)), 'insufficient_storage');
});

describe('two processes on one disk', () => {
  /** What is promised in advance, and what may be told a little later as given back. */
  const MARGIN = 9 * MIB;

  test('promise the same bytes to one upload only, and know when they are free again', async () => {
    const { state, both } = disk(100 * MIB);
    const claims = await Promise.allSettled(both.map((space) => space.claim(bytes(60 * MIB))));
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [winner, loser] = claims[0]!.status === 'fulfilled' ? both : [both[1], both[0]];
    const claim = (claims.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<SpaceClaim>)
      .value;
    await refusalOf(loser.claim(bytes(60 * MIB)), 'insufficient_storage');
    // What has come is gone from the disk, and not promised any more.
    await write(claim, state, 40 * MIB, 4);
    (await loser.claim(bytes(38 * MIB - MARGIN))).end();
    claim.end();
    (await loser.claim(bytes(58 * MIB - MARGIN))).end();
    // What was asked for and refused stands in nobody's way.
    await refusalOf(winner.check(bytes(900 * MIB)), 'insufficient_storage');
    await loser.claim(bytes(58 * MIB - MARGIN));
  });

  test.each([0, 16])('leave the reserve whatever comes unannounced, %i blocks behind', async (behind) => {
    const { state, both } = disk(64 * MIB);
    const writing = Array.from({ length: 8 }, async (_, number) => {
      const claim = await both[number % 2]!.claim(bytes(0));
      await refusalOf(write(claim, state, 40 * MIB, behind), 'insufficient_storage');
    });
    await Promise.all(writing);
    expect(state.free).toBeGreaterThanOrEqual(RESERVE);
    expect(state.free).toBeLessThan(RESERVE + MARGIN);
  });

  test('promise inodes once, and ask each other seldom while there is plenty', async () => {
    const { both } = disk(1000 * MIB, 2_000);
    await both[0].claim({ bytes: 0n, files: 500 });
    await refusalOf(both[1].claim({ bytes: 0n, files: 600 }), 'insufficient_storage');
    const plenty = disk(1000 * MIB);
    for (let round = 0; round < 100; round += 1) (await plenty.both[0].claim(bytes(1000))).end();
    expect(plenty.state.looks).toBeLessThan(10);
  });
});

describe('inodes are room too', () => {
  test('a publication that needs more than there are is refused in these words', async () => {
    const { state, space } = disk(1000 * MIB, 5);
    const { message } = await refusalOf(space.claim({ bytes: 1n, files: 2 }), 'insufficient_storage');
    expect(message).toContain('5 inodes free');
    const claim = await space.claim({ bytes: 1n, files: 1 });
    await refusalOf(space.claim({ bytes: 1n, files: 1 }), 'insufficient_storage');
    claim.end();
    await space.claim({ bytes: 1n, files: 1 });
    state.freeInodes = 3;
    await refusalOf(space.check({ bytes: 0n, files: 0 }), 'insufficient_storage');
  });

  test('the store is not ready without any', async () => {
    const root = temporaryRoot();
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      freeRoom: async (path) => ({ ...(await nodeFileSystem.freeRoom(path)), freeInodes: 0n }),
    };
    const store = storeAt(root, { fileSystem, reserveBytes: 1 });
    await store.prepare();
    expect(await store.writeProblem()).toContain('0 inodes free');
  });
});

test.each([
  ['byte_length', { dtype: 'uint8', byte_length: '3000000' }, 0],
  ['dtype and count', { dtype: 'uint32', count: '750000' }, 0],
  ['the length of what wraps it', {}, 3_000_000],
] as const)(
  'a publication that announces by %s is refused before anything is made or read',
  async (_, array, wrapped) => {
    const root = temporaryRoot();
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      freeRoom: () => Promise.resolve({ free: BigInt(4 * MIB), total: BigInt(64 * MIB), freeInodes: null }),
    };
    const store = storeAt(root, { fileSystem, reserveBytes: RESERVE });
    await store.prepare();
    const draft = await store.readDraft(
      Buffer.from(JSON.stringify({ snapshot: metadataOf(idOf(1)), arrays: { ids: array } })),
    );
    let read = false;
    const payloads = {
      [Symbol.asyncIterator]: () => {
        read = true;
        throw new Error('read');
      },
    };
    await refusalOf(store.publishDraft(draft, payloads, { announcedBytes: wrapped }), 'insufficient_storage');
    expect(read).toBe(false);
    expect(attemptsOf(root)).toEqual([]);
  },
);
