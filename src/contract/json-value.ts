/** What a JSON document holds, without loss. */

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** True if the text has neither fraction nor exponent: `1`, not `1.0` or `1e0`. */
  get isInteger(): boolean {
    return /^-?[0-9]+$/.test(this.text);
  }
}

export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;

/** An object without prototype: `__proto__` and `constructor` are names like any other. */
export interface JsonObject {
  [name: string]: JsonValue;
}
