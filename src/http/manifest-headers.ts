/** Headers that go with a manifest: identity, digest and links (RFC 9110, 9530, 8288). */
import type { Manifest } from '../contract/manifest.ts';
import { entityTag } from './conditions.ts';
import { reprDigest } from './digests.ts';

/** Beyond this many arrays the manifest alone names them: header sections must stay small enough for every client. */
const MAX_ITEM_LINKS = 64;

/** `hasIntent` says whether the package holds an intent.json, which is optional and not among its arrays. */
export function manifestHeaders(
  basePath: string,
  manifest: Manifest,
  { sha256, hasIntent }: { readonly sha256: string; readonly hasIntent: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {
    etag: entityTag(sha256),
    'repr-digest': reprDigest(sha256),
    // Clients may keep what they got, but must ask again: every answer is proven anew.
    'cache-control': 'private, no-cache',
  };
  const link = manifestLinks(basePath, manifest, hasIntent);
  if (link !== '') headers['link'] = link;
  return headers;
}

function manifestLinks(basePath: string, { snapshot, arrays }: Manifest, hasIntent: boolean): string {
  const here = `${basePath}/snapshots/${snapshot.snapshot_id}`;
  const links: string[] = [];
  if (snapshot.parent_id !== null) {
    links.push(`<${basePath}/snapshots/${snapshot.parent_id}>; rel="predecessor-version"`);
  }
  const files = Object.values(arrays)
    .map((entry) => entry.file)
    .sort();
  if (files.length <= MAX_ITEM_LINKS) {
    for (const file of files) links.push(`<${here}/${file}>; rel="item"`);
  }
  if (hasIntent) links.push(`<${here}/intent.json>; rel="related"`);
  return links.join(', ');
}
