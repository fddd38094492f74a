/** Reads metadata documents: small ones at once, large ones one after the other and away from the caller's thread. */
import { parseDraft, type DraftManifest } from '../contract/manifest.ts';
import { parseStrictJson } from '../contract/strict-json.ts';

/** A document of this size is read in a few milliseconds, whatever it holds. */
const SMALL_DOCUMENT_BYTES = 64 * 1024;

/** Generous for everything around the arrays and for what an array may say, and small beside what a MiB can hold. */
const VALUES = 10_000;
const VALUES_PER_ARRAY = 100;

/**
 * Throws `malformed_json`, `limit_exceeded` (`metadata_values`) or `ContractViolationError`. A dtype may be missing: a
 * payload may know its own.
 */
export function readDraft(bytes: Uint8Array, maxValues: number): DraftManifest {
  return parseDraft(parseStrictJson(bytes, { maxValues }), { dtypeFromPayload: true });
}

export class DraftReader {
  readonly #readElsewhere: (bytes: Uint8Array, maxValues: number) => Promise<DraftManifest>;
  readonly #maxValues: number;
  /** A document of a few MiB may hold millions of values: of such trees there is one at a time, in one thread of many. */
  #last: Promise<unknown> = Promise.resolve();

  /** `maxArrays` of one snapshot, absent where any number may come. */
  constructor(
    maxArrays: number | undefined,
    readElsewhere: (bytes: Uint8Array, maxValues: number) => Promise<DraftManifest>,
  ) {
    this.#maxValues = maxArrays === undefined ? Infinity : VALUES + VALUES_PER_ARRAY * maxArrays;
    this.#readElsewhere = readElsewhere;
  }

  async read(bytes: Uint8Array): Promise<DraftManifest> {
    if (bytes.length <= SMALL_DOCUMENT_BYTES) return readDraft(bytes, this.#maxValues);
    const turn = this.#last.then(() => this.#readElsewhere(bytes, this.#maxValues));
    this.#last = turn.catch(() => undefined);
    const { snapshot, arrays } = await turn;
    // Whatever travels between threads comes with a prototype, and `constructor` is a legal key.
    return { snapshot, arrays: Object.assign(Object.create(null) as DraftManifest['arrays'], arrays) };
  }
}
