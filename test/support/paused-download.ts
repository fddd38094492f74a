/** A download whose reader waits after the first piece, so that something can happen in between. */
import { get, type IncomingMessage } from 'node:http';

export interface PausedDownload {
  readonly status: number | undefined;
  /** Reads on to the end: a clean one, or none. */
  readonly finish: () => Promise<{ readonly clean: boolean; readonly received: Buffer }>;
}

/** What is asked for must be larger than the buffers of a connection take while nobody reads: 32 MiB are. */
export async function pausedDownload(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PausedDownload> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject);
  });
  const first = await new Promise<Buffer>((resolve) => response.once('data', resolve));
  response.pause();
  const received = [first];
  const finish = async () => {
    const clean = await new Promise<boolean>((resolve) => {
      response
        .on('data', (piece: Buffer) => received.push(piece))
        .on('end', () => resolve(response.complete))
        .on('error', () => resolve(false));
      response.resume();
    });
    return { clean, received: Buffer.concat(received) };
  };
  return { status: response.statusCode, finish };
}
