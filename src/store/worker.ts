/** A proving thread: runs what it is sent, in order, and answers each; keeps the state of payloads that still arrive. */
import { parentPort, workerData } from 'node:worker_threads';
import { nodeFileSystem } from './node-file-system.ts';
import { readBlockSync } from './block-reading.ts';
import type { Descriptor } from './file-system.ts';
import { writeFullySync } from './file-writing.ts';
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

interface Sink {
  readonly file: Descriptor;
  readonly readBack: ReadBack;
  failed: boolean;
}

/**
 * Small enough to stay in the processor's own cache from the write to the hash. For larger writes ext4 takes larger pieces
 * of memory, which on a virtual machine are those that its host took back: 512 MiB then cost a second more.
 */
const PIECE_BYTES = 128 * 1024;

const sinks = new Map<number, Sink>();

function sinkOf(id: number): Sink {
  const sink = sinks.get(id);
  if (sink === undefined) throw new Error('The payload was not opened, or was ended before.');
  return sink;
}

/** Write, read back and hash without a turn of another thread between them: waking one costs more than the work. */
function store(sink: Sink, bytes: Uint8Array): void {
  const { file, readBack, failed } = sink;
  if (failed) throw new Error('Nothing more is written to a payload after a failure.');
  sink.failed = true;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    writeFullySync(nodeFileSystem, file, piece, readBack.byteLength);
    readBack.block(piece);
  }
  sink.failed = false;
}

function answerTo(request: Request): unknown {
  switch (request.kind) {
    case 'read-block':
      readBlockSync(nodeFileSystem, request.read);
      return undefined;
    case 'sink-open':
      sinks.set(request.sink, {
        file: request.file,
        readBack: new ReadBack(nodeFileSystem, request.path, request.name),
        failed: false,
      });
      return undefined;
    case 'sink-store':
      store(sinkOf(request.sink), request.bytes);
      return undefined;
    case 'sink-finish': {
      const { readBack } = sinkOf(request.sink);
      sinks.delete(request.sink);
      return readBack.finish();
    }
    case 'sink-abandon':
      sinks.get(request.sink)?.readBack.close();
      sinks.delete(request.sink);
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
    say({ id: request.id, value });
  } catch (error) {
    say({ id: request.id, error: packError(error) });
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
