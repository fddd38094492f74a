/** orval gives calls that end in the two functions of examples/README.md; a token goes with each. */
import {
  getArray,
  getSnapshot,
  listSnapshots,
  publishSnapshot,
  type PublishSnapshotBody,
} from '../dist/generated/orval.js';
import { Refused, roundTrip, TOKEN } from './round-trip.js';

const authorized = { headers: { Authorization: `Bearer ${TOKEN}` } };

async function publish(body: PublishSnapshotBody) {
  const answer = await publishSnapshot(body, authorized);
  if (answer.status !== 201) throw new Refused(answer.data);
  return answer.data;
}

roundTrip({
  publish: (metadata, parts) => publish({ metadata, ...parts }),
  publishIds: (metadata, ids) => publish({ metadata, ids }),
  manifest: async (snapshotId) => {
    const answer = await getSnapshot(snapshotId, authorized);
    if (answer.status !== 200) throw new Refused(answer.data);
    return answer.data;
  },
  array: async (snapshotId, key) => {
    const answer = await getArray(snapshotId, key, authorized);
    if (answer.status !== 200) throw new Refused(answer.data);
    return answer.data.arrayBuffer();
  },
  newest: async (limit) => {
    const answer = await listSnapshots({ limit, order: 'newest' }, authorized);
    if (answer.status !== 200) throw new Refused(answer.data);
    return answer.data.snapshots.map(({ snapshot_id }) => snapshot_id);
  },
});
