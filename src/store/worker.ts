/** A proving thread: runs the tasks it is sent and answers each; keeps the hashes of payloads that still arrive. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { nodeFileSystem } from './node-file-system.ts';
import { ReadBack } from './read-back.ts';
import { runTask } from './proof-tasks.ts';
import {
  packError,
  type Answer,
  type Batch,
  type ProvingThreadData,
  type Request,
} from './thread-messages.ts';

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

let answers: Answer[] = [];

function say(answer: Answer): void {
  answers.push(answer);
  if (answers.length === 1) setImmediate(sayAll);
}

function sayAll(): void {
  const batch: Batch<Answer> = answers;
  answers = [];
  parentPort?.postMessage(batch);
}

async function serve(request: Request): Promise<void> {
  try {
    const value = await answerTo(request);
    if (request.id !== null) say({ id: request.id, value });
  } catch (error) {
    if (request.id !== null) say({ id: request.id, error: packError(error) });
  }
}

parentPort?.on('message', (batch: Batch<Request>) => {
  for (const request of batch) {
    serve(request).catch((error: unknown) => {
      // Only the answer itself can fail here, and a thread that cannot answer must not look alive.
      throw error;
    });
  }
});
