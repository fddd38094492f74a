/** What the routes are given; made once in `src/app.ts`, no global state anywhere. */
import type { Config } from '../config.ts';
import type { SnapshotStore } from '../store/snapshot-store.ts';
import type { Transfers } from './transfers.ts';

export interface ServiceContext {
  readonly config: Config;
  readonly store: SnapshotStore;
  readonly transfers: Transfers;
}
