/** swagger-typescript-api gives a class that throws what is refused; bytes have to be asked for. */
import { Api, type HttpResponse } from '../dist/generated/swagger-typescript-api.js';
import { Refused, roundTrip, TOKEN, URL_OF_SERVICE } from './round-trip.js';

const { snapshots } = new Api({
  baseUrl: URL_OF_SERVICE,
  securityWorker: () => ({ headers: { Authorization: `Bearer ${TOKEN}` } }),
});

async function dataOf<T>(answer: Promise<HttpResponse<T, unknown>>): Promise<T> {
  try {
    return (await answer).data;
  } catch (reason) {
    if (!(reason instanceof Response)) throw reason;
    const { error } = reason as HttpResponse<T, unknown>;
    // What is asked for as a blob is refused as one.
    throw new Refused(error instanceof Blob ? JSON.parse(await error.text()) : error);
  }
}

roundTrip({
  publish: (metadata, parts) => dataOf(snapshots.publishSnapshot({ metadata, ...parts })),
  publishIds: (metadata, ids) => dataOf(snapshots.publishSnapshot({ metadata, ids })),
  manifest: (snapshotId) => dataOf(snapshots.getSnapshot(snapshotId)),
  array: async (snapshotId, key) => {
    const data = await dataOf(snapshots.getArray(snapshotId, key, { format: 'blob' }));
    return data.arrayBuffer();
  },
  newest: async (limit) => {
    const { snapshots: page } = await dataOf(snapshots.listSnapshots({ limit, order: 'newest' }));
    return page.map(({ snapshot_id }) => snapshot_id);
  },
});
