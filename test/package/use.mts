// Compiled by the oldest and the newest TypeScript that the package promises, in every mode of modules.
import { LocalSnapshotStore, parseDeclarations, SnapshotExistsError } from 'pipewhy-snapshots';
import type { OpenedSnapshot } from 'pipewhy-snapshots';
import { isProblemError, SnapshotClient, type PublishMetadata } from 'pipewhy-snapshots/client';

export async function use(metadata: PublishMetadata): Promise<bigint | number | undefined> {
  const client = new SnapshotClient('http://127.0.0.1:8750');
  try {
    await client.publish(metadata, { ids: new BigUint64Array([1n]) });
  } catch (error) {
    if (error instanceof SnapshotExistsError) console.log(error.details.location);
    else if (isProblemError(error)) console.log(error.problem.code);
  }
  for await (const { snapshot_id, scope } of client.list({ order: 'newest' }))
    console.log(snapshot_id, scope);
  for await (const entry of client.list({ damaged: 'show' })) {
    console.log('problem' in entry ? entry.problem.code : entry.scope);
  }
  const received: OpenedSnapshot = await client.open('0'.repeat(32));
  const store = new LocalSnapshotStore('./data', { declarations: parseDeclarations(new Uint8Array()) });
  const stored: OpenedSnapshot = await store.open('0'.repeat(32));
  return (received.arrays['ids'] ?? stored.arrays['ids'])?.[0];
}
