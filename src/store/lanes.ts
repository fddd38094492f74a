/** Runs `work` for 0 up to `count`, `width` at a time; after a failure nothing new begins and nothing is left running. */
export async function inLanes(
  width: number,
  count: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      try {
        await work(index);
      } catch (error) {
        next = count;
        throw error;
      }
    }
  };
  const lanes = Array.from({ length: Math.min(width, count) }, lane);
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}
