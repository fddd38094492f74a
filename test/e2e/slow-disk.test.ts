/** A disk that takes its time over syncs holds up whoever waits for them, and nobody else. Counted, not timed. */
import { describe, expect, it } from 'vitest';

import { ask, jsonOf } from '../support/http.ts';
import { startServer } from '../support/service.ts';
import { HAS_COMPILER, slowSyncs } from '../support/slow-syncs.ts';
import { attemptsOf, idOf, pattern, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, publish, type ArrayPart } from '../support/uploads.ts';
import { eventually } from '../support/wire.ts';

/** Of the 48 threads that the command asks for, an eighth is kept from syncs. */
const SYNCS_AT_ONCE = 42;
const SYNCS_OF_ONE = 8;

function manyArrays(count: number): Record<string, ArrayPart> {
  const one = { dtype: 'uint8', bytes: pattern(100) };
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`slow${index}`, one]));
}

describe.skipIf(!HAS_COMPILER)('while the disk holds syncs', () => {
  it('those of sixteen uploads are under way together, reads and listings go on, and all are published after it', async () => {
    const { env, held, hold, release } = slowSyncs();
    const root = temporaryRoot();
    const { url } = await startServer(root, [], { env });
    hold();
    const uploads = Array.from({ length: 16 }, (_, index) => publish(url, idOf(index + 1), EXAMPLE_ARRAYS));
    await eventually('as many wait for the disk as may', () => held().now === SYNCS_AT_ONCE);
    await eventually('all have begun', () => attemptsOf(root).length === 16);
    // Each of these needs a thread of the same pool.
    expect(jsonOf(await ask(url, '/incomplete')).incomplete).toHaveLength(16);
    expect(jsonOf(await ask(url, '/snapshots')).snapshots).toEqual([]);
    expect((await ask(url, '/readyz')).status).toBe(200);
    expect((await ask(url, '/metrics')).body.toString()).toMatch(/snapshots_free_bytes \d/u);
    expect(held().now).toBe(SYNCS_AT_ONCE);
    release();
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(uploads.map(() => 201));
    expect(held()).toEqual({ now: 0, most: SYNCS_AT_ONCE });
  });

  it('one upload of many arrays has few under way, and a small one passes it', async () => {
    const { env, held, hold, release } = slowSyncs('array-slow');
    const { url } = await startServer(temporaryRoot(), [], { env });
    hold();
    const large = publish(url, idOf(1), manyArrays(200));
    await eventually('its syncs are held', () => held().now === SYNCS_OF_ONE);
    expect((await publish(url, idOf(2), EXAMPLE_ARRAYS)).status).toBe(201);
    expect((await ask(url, `/snapshots/${idOf(2)}`)).status).toBe(200);
    release();
    expect((await large).status).toBe(201);
    expect(held().most).toBe(SYNCS_OF_ONE);
  });

  it('a pool of another size is asked for by its variable', async () => {
    const { env, held, hold, release } = slowSyncs();
    const { url } = await startServer(temporaryRoot(), [], { env: { ...env, UV_THREADPOOL_SIZE: '8' } });
    hold();
    const uploads = Array.from({ length: 8 }, (_, index) => publish(url, idOf(index + 1), EXAMPLE_ARRAYS));
    await eventually('as many wait for the disk as may', () => held().now === 7);
    expect((await ask(url, '/incomplete')).status).toBe(200);
    release();
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(uploads.map(() => 201));
    expect(held().most).toBe(7);
  });
});
