/** Uploads that stand still in their midst. */
import { bodyOf } from '../http/multipart-support.ts';
import { attemptsOf, metadataOf, pattern } from './stores.ts';
import { MULTIPART } from './uploads.ts';
import { eventually, head, Wire } from './wire.ts';

/** The body of a snapshot with one array of 300,000 bytes. */
function uploadOf(id: string): Buffer {
  const metadata = JSON.stringify({ snapshot: metadataOf(id), arrays: { ids: { dtype: 'uint8' } } });
  return bodyOf([
    { name: 'metadata', payload: metadata },
    { name: 'ids', payload: Buffer.from(pattern(300_000)) },
  ]);
}

/** An upload of which the first half has arrived. */
export async function halfAnUpload(
  root: string,
  url: string,
  id: string,
): Promise<{ wire: Wire; rest: Buffer }> {
  const body = uploadOf(id);
  const wire = await Wire.open(url);
  const before = attemptsOf(root).length;
  const start = head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${body.length}`]);
  await wire.send(Buffer.concat([Buffer.from(start), body.subarray(0, 150_000)]));
  await eventually('the attempt is made', () => attemptsOf(root).length > before);
  return { wire, rest: body.subarray(150_000) };
}
