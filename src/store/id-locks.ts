/** The in-process lock of one snapshot id: fails fast, never waits. Between processes the rename decides. */
import { SnapshotError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';

export class IdLocks {
  readonly #held = new Set<SnapshotId>();

  /** Runs `work` while no other publication of `id` can; throws `publication_in_progress` when one is under way. */
  async during<T>(id: SnapshotId, work: () => Promise<T>): Promise<T> {
    if (this.#held.has(id)) {
      throw new SnapshotError(
        'publication_in_progress',
        `Another publication of ${id} is under way in this process; wait for its answer, then read the snapshot.`,
        { snapshot_id: id, retry_after_seconds: 1 },
      );
    }
    this.#held.add(id);
    try {
      return await work();
    } finally {
      this.#held.delete(id);
    }
  }
}
