/** `-F ids=ids.bin` sends the name, `-F ids=@ids.bin` the file: where the name is refused, the refusal says so. */
import { isAnySnapshotError, SnapshotError, summarize } from '../contract/errors.ts';
import { arrayKeyOfFileName } from '../contract/package.ts';
import { quote } from '../contract/text.ts';
import type { IncomingPart } from './multipart.ts';

/** Longer texts are no file names. */
const MAX_NAME_BYTES = 255;

/** One word with a dot or a slash in it, which is neither the beginning of JSON nor a number. */
const FILE_NAME = /^(?=[^.]*[./])(?:[A-Za-z_~/]|\.{0,2}\/|\.?[A-Za-z_])[\x21-\x7e]*$/u;

/** What to do about a part that holds the name of a file instead of the file, or null for any other. */
function advice(part: string, bytes: Uint8Array): string | null {
  if (bytes.length > MAX_NAME_BYTES) return null;
  const text = new TextDecoder('latin1').decode(bytes);
  if (!FILE_NAME.test(text)) return null;
  return `what arrived is the text ${quote(text)}; to send the file, put @ before its name, in curl -F ${part}=@${text}`;
}

/** Refuses a document that is the name of one, as the reader of JSON would, and says why. */
export function checkIsNoFileName(metadata: Uint8Array): void {
  const hint = advice('metadata', metadata);
  if (hint === null) return;
  const sentence = `The metadata is not JSON: ${hint}.`;
  throw new SnapshotError('malformed_json', sentence, { line: 1, column: 1 });
}

/** Remembers which arrays of one request were names, for the case that they are refused. */
export class FileNamesSent {
  readonly #advice = new Map<string, string>();

  /** The part as it is. Only a plain field, which no sender of files makes, is looked at while it passes. */
  watch(part: IncomingPart): IncomingPart {
    const isField = part.fileName === undefined && part.mediaType === 'text/plain';
    return isField ? { ...part, chunks: this.#watched(part) } : part;
  }

  async *#watched({ name, chunks }: IncomingPart): AsyncGenerator<Buffer, void, undefined> {
    let beginning = Buffer.alloc(0);
    for await (const chunk of chunks) {
      if (beginning.length <= MAX_NAME_BYTES) {
        beginning = Buffer.concat([beginning, chunk.subarray(0, MAX_NAME_BYTES + 1)]);
      }
      yield chunk;
    }
    const hint = advice(name, beginning);
    if (hint !== null) this.#advice.set(`arrays.${arrayKeyOfFileName(name) ?? name}`, hint);
  }

  /** A refusal of arrays with what is known of their parts; any other error as it is. */
  explained(error: unknown): unknown {
    if (!isAnySnapshotError(error) || error.code !== 'array_mismatch' || this.#advice.size === 0)
      return error;
    const errors = error.errors.map(({ path, message }) => {
      const hint = this.#advice.get(path.split('.').slice(0, 2).join('.'));
      return { path, message: hint === undefined ? message : `${message}: ${hint}` };
    });
    return new SnapshotError(
      'array_mismatch',
      summarize(errors),
      { ...error.details, errors },
      { cause: error, ...(error.attempt === undefined ? {} : { attempt: error.attempt }) },
    );
  }
}
