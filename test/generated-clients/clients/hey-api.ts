/** @hey-api/openapi-ts gives calls that need nothing but an address and a token. */
import { createClient } from '../dist/generated/hey-api/client/index.js';
import {
  getArray,
  getSnapshot,
  listSnapshots,
  publishSnapshot,
  type PublishSnapshotData,
} from '../dist/generated/hey-api/index.js';
import { Refused, roundTrip, TOKEN, URL_OF_SERVICE } from './round-trip.js';

const client = createClient({ baseUrl: URL_OF_SERVICE, auth: TOKEN });

async function publish(body: PublishSnapshotData['body']) {
  const { data, error } = await publishSnapshot({ client, body });
  if (data === undefined) throw new Refused(error);
  return data;
}

roundTrip({
  publish: (metadata, parts) => publish({ metadata, ...parts }),
  publishIds: (metadata, ids) => publish({ metadata, ids }),
  manifest: async (snapshot_id) => {
    const { data, error } = await getSnapshot({ client, path: { snapshot_id } });
    if (data === undefined) throw new Refused(error);
    return data;
  },
  array: async (snapshot_id, key) => {
    const { data, error } = await getArray({ client, path: { snapshot_id, key } });
    if (data === undefined) throw new Refused(error);
    return data.arrayBuffer();
  },
  newest: async (limit) => {
    const { data, error } = await listSnapshots({ client, query: { limit, order: 'newest' } });
    if (data === undefined) throw new Refused(error);
    return data.snapshots.map(({ snapshot_id }) => snapshot_id);
  },
});
