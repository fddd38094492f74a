/** Small helpers for text that comes from outside. */

const MAX_SHOWN = 80;

// With the `u` flag a surrogate pair is one code point, so only a lone surrogate can match.
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Tells whether `text` has a UTF-8 form, that is, holds no lone surrogate. */
export function isWellFormedText(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** `text` cut to at most 80 UTF-16 units, never through a surrogate pair, with an ellipsis where it was cut. */
export function shorten(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const last = text.charCodeAt(MAX_SHOWN - 2);
  const cutsPair = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, MAX_SHOWN - (cutsPair ? 2 : 1))}…`;
}

/**
 * `text` as a JSON string of at most 80 characters, quotes included, for a message. Escapes keep control characters
 * and lone surrogates visible and harmless, and the cost does not grow with a hostile document.
 */
export function quote(text: string): string {
  let body = '';
  for (const char of text) {
    const piece = JSON.stringify(char).slice(1, -1);
    if (body.length + piece.length > MAX_SHOWN - 3) return `"${body}…"`;
    body += piece;
  }
  return `"${body}"`;
}

// Controls, format characters such as directions, lone surrogates, and the two separators of lines and paragraphs.
const ACTIVE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * `text` in which nothing ends a line, steers a terminal or turns the direction of what is shown: each such character is
 * written as its escape, which in a JSON text means the same. Characters in `kept` stay as they are.
 */
export function inert(text: string, kept = ''): string {
  return text.replace(ACTIVE, (char) => (kept.includes(char) ? char : escapesOf(char)));
}

/** `\u001b`, and a pair of them for a character beyond the first plane. */
function escapesOf(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** A line of JSON with the same meaning that neither ends before its end nor speaks to what shows it. */
export function inertJson(line: string): string {
  return inert(line, '\n');
}

/** One escape sequence of JSON text, so that an escaped backslash is never taken for the start of another. */
const ESCAPE = /\\(?<unit>u[0-9a-f]{4}|[bfr])|\\./gu;

/**
 * A line of JSON whose strings hold the escapes themselves, for a printer that writes strings as they are: what a request
 * sent as ESC is shown as the six characters \u001b. Line feeds stay: the printer indents what follows them.
 */
export function inertText(line: string): string {
  return inertJson(line).replace(ESCAPE, (escape, unit: string | undefined) =>
    unit === undefined ? escape : `\\${escape}`,
  );
}

/** What an `Authorization: Bearer` header can carry: the rule of the service and of its client alike. */
export const TOKEN_RULE = 'visible ASCII without blanks, as an Authorization header carries it';

export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/u.test(text);
}
