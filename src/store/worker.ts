/** A proving thread: runs the tasks it is sent and answers each; keeps the hashes of payloads that still arrive. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { nodeFileSystem } from './node-file-system.ts';
import { ReadBack } from './read-back.ts';
import { runTask } from './proof-tasks.ts';
import { packError, type Answer, type ProvingThreadData, type Request } from './thread-messages.ts';

const { declarations } = workerData as ProvingThreadData;
const hashes = new Map<number, Hash>();
const readBacks = new Map<number, ReadBack>();

function hashOf(stream: number): Hash {
  const known = hashes.get(stream);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  hashes.set(stream, hash);
  return hash;
}

function readBackOf(stream: number, path: string, name: string): ReadBack {
  const known = readBacks.get(stream);
  if (known !== undefined) return known;
  const readBack = new ReadBack(nodeFileSystem, path, name);
  readBacks.set(stream, readBack);
  return readBack;
}

function answerTo(request: Request): unknown {
  switch (request.kind) {
    case 'hash-update':
      hashOf(request.stream).update(request.block);
      return undefined;
    case 'hash-digest': {
      const digest = hashOf(request.stream).digest('hex');
      hashes.delete(request.stream);
      return digest;
    }
    case 'hash-abandon':
      hashes.delete(request.stream);
      return undefined;
    case 'read-back-block':
      readBackOf(request.stream, request.path, request.name).block(request.block);
      return undefined;
    case 'read-back-finish': {
      const readBack = readBacks.get(request.stream);
      readBacks.delete(request.stream);
      return readBack?.finish();
    }
    case 'read-back-abandon':
      readBacks.get(request.stream)?.close();
      readBacks.delete(request.stream);
      return undefined;
    default:
      return runTask(nodeFileSystem, declarations, request.kind, request.input);
  }
}

async function serve(request: Request): Promise<void> {
  let answer: Answer | null = null;
  try {
    const value = await answerTo(request);
    if (request.id !== null) answer = { id: request.id, value };
  } catch (error) {
    if (request.id !== null) answer = { id: request.id, error: packError(error) };
  }
  if (answer !== null) parentPort?.postMessage(answer);
}

parentPort?.on('message', (request: Request) => {
  serve(request).catch((error: unknown) => {
    // Only the answer itself can fail here, and a thread that cannot answer must not look alive.
    throw error;
  });
});
