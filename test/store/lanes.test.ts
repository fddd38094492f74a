import { describe, expect, test } from 'vitest';

import { inLanes } from '../../src/store/lanes.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('work in lanes', () => {
  test('does everything once, never more than so many at a time', async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await inLanes(3, 10, async (index) => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      done.push(index);
    });
    expect(done.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(most).toBe(3);
    await inLanes(3, 0, () => Promise.reject(new Error('nothing to do')));
  });

  test('after a failure nothing new begins, and what runs has ended before the failure is told', async () => {
    const begun: number[] = [];
    let ended = 0;
    const work = inLanes(2, 10, async (index) => {
      begun.push(index);
      if (index === 1) throw new Error('no more');
      await turn();
      await turn();
      ended += 1;
    });
    await expect(work).rejects.toThrow('no more');
    expect([begun, ended]).toEqual([[0, 1], 1]);
  });
});
