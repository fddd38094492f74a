/** One request that sends a whole snapshot, and what its failure says of what may be stored. */
import { expectStatus } from './answers.ts';
import { ConnectionError, ProtocolError, SnapshotClientError, TimeoutError } from './errors.ts';
import { multipartBody } from './multipart.ts';
import { PublicationUncertainError } from './problem-errors.ts';
import { readManifest, type ProvenManifest } from './proven-manifest.ts';
import { expectedManifest, type Publication } from './publication.ts';
import { isGatewayFailure } from './retries.ts';

export interface FailedAttempt {
  readonly failure: SnapshotClientError;
  /** Bytes were taken from the sources: a stream is not what it was. */
  readonly started: boolean;
  /** The service had the whole snapshot, and its answer does not say that it refused. */
  readonly mayBeStored: boolean;
}

/** Throws the reason of the abort signal, and `ProtocolError` if something else was stored than sent. */
export async function sendOnce(
  publication: Publication,
  attempt: number,
): Promise<{ readonly proven: ProvenManifest } | FailedAttempt> {
  const { transport, draft, sources, options, seen } = publication;
  const id = draft.snapshot.snapshot_id;
  const { headers, body, sent } = multipartBody(draft, sources, seen, progressReporter(publication, attempt));
  let stored = false;
  let proven: ProvenManifest;
  try {
    const request = { method: 'POST', headers, body, signal: options.signal } as const;
    const answer = await expectStatus(await transport.request('/snapshots', request), 201);
    stored = true;
    proven = await readManifest(answer, id);
  } catch (error) {
    if (!(error instanceof SnapshotClientError)) throw error;
    const unanswered =
      error instanceof ConnectionError || error instanceof TimeoutError || isGatewayFailure(error);
    return {
      failure: error,
      started: sent.started,
      mayBeStored: stored || error instanceof PublicationUncertainError || (sent.complete && unanswered),
    };
  } finally {
    Object.assign(seen, sent.seen);
  }
  const expected = await expectedManifest(publication);
  if (expected !== null && expected.sha256 !== proven.manifestSha256) {
    throw new ProtocolError(
      `The service stored snapshot ${id} with the manifest ${proven.manifestSha256}; what was sent has ${expected.sha256}.`,
      { status: 201 },
    );
  }
  return { proven };
}

function progressReporter({ sources, options }: Publication, attempt: number): (bytes: number) => void {
  const { onProgress } = options;
  if (onProgress === undefined) return () => undefined;
  let sentBytes = 0;
  const totalBytes = sources.reduce<number | null>(
    (sum, { byteLength }) => (sum === null || byteLength === null ? null : sum + byteLength),
    0,
  );
  onProgress({ sentBytes, totalBytes, attempt });
  return (bytes) => {
    sentBytes += bytes;
    onProgress({ sentBytes, totalBytes, attempt });
  };
}
