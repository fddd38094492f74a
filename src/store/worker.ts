/** A thread of the engine: answers messages with it, and knows nothing else. */
import { parentPort, workerData } from 'node:worker_threads';
import { Engine } from './engine.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { OpenDescriptors } from './open-descriptors.ts';
import type { Ending } from './payload-proof.ts';
import { packError, type Answer, type Batch, type Message, type ThreadData } from './thread-messages.ts';

const { declarations, manifestBytes, openDescriptors } = workerData as ThreadData;
const fs = new OpenDescriptors(openDescriptors).noting(nodeFileSystem);
const engine = new Engine(fs, declarations, manifestBytes);
const underWay = new Map<number, Wanted>();

/** Whether anybody still waits for a task: less than an AbortController, of which one for each small task would cost. */
class Wanted implements Ending {
  aborted = false;

  throwIfAborted(): void {
    if (this.aborted) throw new Error('Nobody waits for this any more.');
  }
}

let answers: Answer[] = [];
let transfers: ArrayBuffer[] = [];

function say(answer: Answer, transfer: readonly ArrayBuffer[] = []): void {
  answers.push(answer);
  transfers.push(...transfer);
  if (answers.length === 1) setImmediate(sayAll);
}

function sayAll(): void {
  const batch: Batch<Answer> = answers;
  const transfer = transfers;
  answers = [];
  transfers = [];
  parentPort?.postMessage(batch, transfer);
}

async function answer({ id, kind, input }: Extract<Message, { readonly kind: string }>): Promise<void> {
  const wanted = new Wanted();
  underWay.set(id, wanted);
  try {
    const value = await engine.run(kind, input, wanted);
    say(
      { id, value },
      kind === 'readPayloads' ? (value as Uint8Array<ArrayBuffer>[]).map(({ buffer }) => buffer) : [],
    );
  } catch (error) {
    say({ id, error: packError(error) });
  } finally {
    underWay.delete(id);
  }
}

parentPort?.on('message', (batch: Batch<Message>) => {
  for (const message of batch) {
    if ('abort' in message) {
      const task = underWay.get(message.abort);
      if (task !== undefined) task.aborted = true;
    } else
      answer(message).catch((error: unknown) => {
        // Only the answer itself can fail here, and a thread that cannot answer must not look alive.
        throw error;
      });
  }
});
