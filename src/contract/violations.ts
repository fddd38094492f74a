/** Collects every violation of a document, so that a producer can mend them all at once. */

import { JsonNumber } from './json-value.ts';
import { quote, shorten } from './text.ts';

/** One violation of a document: `path` is dotted (`snapshot.coverage.status`), empty for the document itself. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

const MAX_REPORTED = 100;

export class Violations {
  private readonly reported: Violation[] = [];
  private total = 0;

  /** How many were added, reported or not. */
  get count(): number {
    return this.total;
  }

  add(path: string, message: string): void {
    this.total += 1;
    if (this.total <= MAX_REPORTED) this.reported.push({ path, message });
  }

  /** Adds a violation that shows what was there instead. */
  addFound(path: string, expected: string, found: unknown): void {
    this.add(path, this.total < MAX_REPORTED ? `${expected}; found ${describe(found)}` : expected);
  }

  /** The first 100, and one more line that counts the rest: a hostile document must not blow up the answer. */
  list(): readonly Violation[] {
    const more = this.total - this.reported.length;
    if (more === 0) return this.reported;
    return [...this.reported, { path: '', message: `${more} more violations are not listed` }];
  }
}

/** The path of a member; a foreign name in it is shortened. */
export function memberPath(parent: string, name: string): string {
  const shown = shorten(name);
  return parent === '' ? shown : `${parent}.${shown}`;
}

/** A few words for a value in a message: scalars are shown, shortened; containers only named. */
function describe(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : quote(value);
  if (value instanceof JsonNumber) return `the number ${shorten(value.text)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${shorten(String(value))}`;
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a value of type ${typeof value}`;
}
