/** The grammar of JSON (RFC 8259), read strictly and in one pass. */

import { SnapshotError } from './errors.ts';
import { JsonNumber } from './json-value.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { quote } from './text.ts';
import { malformed } from './utf8.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BYTE_ORDER_MARK = 0xfeff;

const SIMPLE_ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Reads the one document that a text holds. The depth bounds the recursion. */
export class StrictJsonReader {
  private readonly text: string;
  private readonly maxDepth: number;
  private readonly maxValues: number;
  private at = 0;
  private depth = 0;
  private values = 0;

  constructor(text: string, maxDepth: number, maxValues: number) {
    this.text = text;
    this.maxDepth = maxDepth;
    this.maxValues = maxValues;
  }

  document(): JsonValue {
    if (this.text.charCodeAt(0) === BYTE_ORDER_MARK) {
      throw this.refusal('expected JSON without a byte order mark');
    }
    this.skipBlanks();
    const value = this.value();
    this.skipBlanks();
    if (this.at < this.text.length) throw this.unexpected('the end of the document');
    return value;
  }

  private value(): JsonValue {
    const { text } = this;
    switch (text[this.at]) {
      case '{':
        return this.object();
      case '[':
        return this.array();
      case '"':
        return this.string();
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      case 'n':
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a JSON value');
    this.at += word.length;
    return value;
  }

  private object(): JsonObject {
    const members = Object.create(null) as JsonObject;
    this.enter();
    if (this.skipTo('}')) return this.leave(members);
    for (;;) {
      if (this.text.charCodeAt(this.at) !== QUOTE) throw this.unexpected('a name in double quotes');
      const nameAt = this.at;
      const name = this.string();
      if (name in members) {
        this.at = nameAt;
        throw this.refusal(`expected each name once in an object, found ${quote(name)} again`);
      }
      if (!this.skipTo(':')) throw this.unexpected('":" after the name');
      this.skipBlanks();
      this.count();
      members[name] = this.value();
      if (this.skipTo('}')) return this.leave(members);
      if (!this.skipTo(',')) throw this.unexpected('"," or "}"');
      this.skipBlanks();
    }
  }

  private array(): JsonValue[] {
    const items: JsonValue[] = [];
    this.enter();
    if (this.skipTo(']')) return this.leave(items);
    for (;;) {
      this.skipBlanks();
      // Strings cost no more than their bytes.
      if (this.text.charCodeAt(this.at) !== QUOTE) this.count();
      items.push(this.value());
      if (this.skipTo(']')) return this.leave(items);
      if (!this.skipTo(',')) throw this.unexpected('"," or "]"');
    }
  }

  private count(): void {
    this.values += 1;
    if (this.values <= this.maxValues) return;
    throw new SnapshotError(
      'limit_exceeded',
      `The document holds more than ${this.maxValues} values, the limit metadata_values; no document with as many arrays as ` +
        'this service takes needs so many.',
      { limit: 'metadata_values', expected: String(this.maxValues) },
    );
  }

  private enter(): void {
    this.depth += 1;
    if (this.depth > this.maxDepth) {
      throw this.refusal(`expected at most ${this.maxDepth} levels of nesting, found more`);
    }
    this.at += 1;
  }

  private leave<T>(value: T): T {
    this.depth -= 1;
    return value;
  }

  /** Skips blanks and then `char`, if it is there. */
  private skipTo(char: string): boolean {
    this.skipBlanks();
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  private skipBlanks(): void {
    const { text } = this;
    let { at } = this;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
      at += 1;
    }
    this.at = at;
  }

  private string(): string {
    const { text } = this;
    let value = '';
    let start = this.at + 1;
    for (let at = start; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.at = at + 1;
        return value + text.slice(start, at);
      }
      if (code === BACKSLASH) {
        value += text.slice(start, at);
        this.at = at;
        value += this.escape();
        start = this.at;
        at = start - 1;
      } else if (!(code >= 0x20)) {
        // NaN past the end of the text lands here too.
        this.at = at;
        throw this.unexpected('the rest of a string, with control characters escaped');
      }
    }
  }

  private escape(): string {
    const simple = SIMPLE_ESCAPES.get(this.text.charAt(this.at + 1));
    if (simple !== undefined) {
      this.at += 2;
      return simple;
    }
    const hex = this.text.slice(this.at + 2, this.at + 6);
    if (this.text[this.at + 1] !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) {
      throw this.unexpected(
        'one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hex digits',
      );
    }
    this.at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  private number(): JsonNumber {
    const start = this.at;
    if (this.text[this.at] === '-') this.at += 1;
    if (this.text[this.at] === '0') this.at += 1;
    else this.digits(this.at === start ? 'a JSON value' : 'a digit');
    if (this.text[this.at] === '.') {
      this.at += 1;
      this.digits('a digit');
    }
    if (this.text[this.at] === 'e' || this.text[this.at] === 'E') {
      this.at += 1;
      if (this.text[this.at] === '+' || this.text[this.at] === '-') this.at += 1;
      this.digits('a digit');
    }
    return new JsonNumber(this.text.slice(start, this.at));
  }

  /** Skips one digit or more. */
  private digits(expected: string): void {
    const { text } = this;
    let { at } = this;
    for (;;) {
      const code = text.charCodeAt(at);
      if (!(code >= 0x30 && code <= 0x39)) break;
      at += 1;
    }
    if (at === this.at) throw this.unexpected(expected);
    this.at = at;
  }

  private unexpected(expected: string): SnapshotError<'malformed_json'> {
    const rest = this.text.slice(this.at, this.at + 2);
    const char = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    return this.refusal(`expected ${expected}, found ${rest === '' ? 'the end of the text' : quote(char)}`);
  }

  private refusal(what: string): SnapshotError<'malformed_json'> {
    return malformed(this.text, this.at, what);
  }
}
