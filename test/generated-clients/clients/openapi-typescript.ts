/** openapi-typescript gives the types, openapi-fetch the calls; the form of a publication is put together by the caller. */
import createClient from 'openapi-fetch';
import type { paths } from '../dist/generated/openapi-typescript.js';
import { form } from '../dist/generated/readme/functions.js';
import { Refused, roundTrip, TOKEN, URL_OF_SERVICE } from './round-trip.js';

const client = createClient<paths>({
  baseUrl: URL_OF_SERVICE,
  headers: { Authorization: `Bearer ${TOKEN}` },
});

type Body = paths['/snapshots']['post']['requestBody']['content']['multipart/form-data'];

async function publish(body: Body) {
  const { data, error } = await client.POST('/snapshots', { body, bodySerializer: form });
  if (data === undefined) throw new Refused(error);
  return data;
}

roundTrip({
  publish: (metadata, parts) => publish({ metadata, ...parts }),
  publishIds: (metadata, ids) => publish({ metadata, ids }),
  manifest: async (snapshot_id) => {
    const { data, error } = await client.GET('/snapshots/{snapshot_id}', {
      params: { path: { snapshot_id } },
    });
    if (data === undefined) throw new Refused(error);
    return data;
  },
  array: async (snapshot_id, key) => {
    const { data, error } = await client.GET('/snapshots/{snapshot_id}/array-{key}.bin', {
      params: { path: { snapshot_id, key } },
      parseAs: 'arrayBuffer',
    });
    if (error !== undefined) throw new Refused(error);
    // An answer without a byte has no data there.
    return data ?? new ArrayBuffer(0);
  },
  newest: async (limit) => {
    const { data, error } = await client.GET('/snapshots', { params: { query: { limit, order: 'newest' } } });
    if (data === undefined) throw new Refused(error);
    return data.snapshots.map(({ snapshot_id }) => snapshot_id);
  },
});
