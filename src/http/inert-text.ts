/** Foreign text in answers and log lines can neither end the line nor speak to the terminal that shows it. */

/** What `JSON.stringify` leaves as it is and terminals, pagers or viewers act upon: C1 controls, separators, directions. */
const ACTIVE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** One escape sequence of JSON text, so that an escaped backslash is never taken for the start of another. */
const ESCAPE = /\\(?:u00(?<code>[0-9a-f]{2})|(?<letter>[bfr])|.)/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A line of JSON with the same meaning in which every active character is escaped. */
export function inertJson(line: string): string {
  return line.replace(ACTIVE, escaped);
}

/**
 * A line of JSON whose strings hold the escapes themselves, for a printer that writes strings as they are: what a request
 * sent as ESC is shown as the six characters \u001b. Line feeds stay: the printer indents what follows them.
 */
export function inertText(line: string): string {
  return line
    .replace(ESCAPE, (escape, code: string | undefined, letter: string | undefined) =>
      code !== undefined || letter !== undefined ? `\\${escape}` : escape,
    )
    .replace(ACTIVE, (character) => `\\${escaped(character)}`);
}

/** What a client sent, quoted for a message: its beginning, with quotes and control characters escaped. */
export function quoteSent(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
