/** Reads that the store works on at once are few: what many more would give at once would pile up before it is counted. */
import { EventEmitter } from 'node:events';
import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';

import { Exchange } from '../../src/http/connections.ts';
import { ownPermits, Transfers } from '../../src/http/transfers.ts';
import { eventually } from '../support/wire.ts';

function someExchange(): { exchange: Exchange; leave: () => void } {
  const response = new EventEmitter();
  const exchange = new Exchange(new IncomingMessage(new Socket()), response as unknown as ServerResponse);
  return { exchange, leave: () => response.emit('close') };
}

test.each(['manifest', 'array'] as const)(
  'of a thousand reads of one sort (%s) few are at work',
  async (sort) => {
    const transfers = new Transfers({ uploads: ownPermits(1), downloadBytes: 1, processes: 1 });
    let working = 0;
    let most = 0;
    const reads = Array.from({ length: 1000 }, () =>
      transfers.reading(someExchange().exchange, sort, async () => {
        most = Math.max(most, (working += 1));
        await new Promise((resolve) => setImmediate(resolve));
        working -= 1;
        return 'read';
      }),
    );
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['read']));
    expect(most).toBe(64);
  },
);

test('one that waits ends with its exchange, and one that fails gives its place back', async () => {
  const transfers = new Transfers({ uploads: ownPermits(1), downloadBytes: 1, processes: 1 });
  const finish: (() => void)[] = [];
  const running = Array.from({ length: 64 }, () =>
    transfers.reading(
      someExchange().exchange,
      'manifest',
      () => new Promise<void>((_, reject) => finish.push(() => reject(new Error('failed')))),
    ),
  );
  await eventually('all places are taken', () => finish.length === 64);
  const { exchange, leave } = someExchange();
  const waiting = transfers.reading(exchange, 'manifest', async () => 'read');
  leave();
  await expect(waiting).rejects.toThrow();
  for (const end of finish) end();
  expect((await Promise.allSettled(running)).every(({ status }) => status === 'rejected')).toBe(true);
  expect(await transfers.reading(someExchange().exchange, 'manifest', async () => 'read')).toBe('read');
});
