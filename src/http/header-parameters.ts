/** The one reading of `; name=value` header parameters (RFC 9110, 5.6.6) that every producer and parser shares. */

/** A token of RFC 9110, 5.6.2, as the source of a regular expression. */
export const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'sy');

export interface HeaderParameter {
  /** Lower case. */
  readonly name: string;
  /** Without quotes; `\"` and `\\` are resolved, every other backslash stands for itself as in browsers. */
  readonly value: string;
  readonly quoted: boolean;
}

/**
 * Reads the parameters that follow the first word of a header value.
 * Returns undefined when anything is left over: a missing `=`, an open quote, text after a quote, blanks around `=`.
 * `text` starts at the first semicolon and carries no blanks at its end.
 */
export function readHeaderParameters(text: string): HeaderParameter[] | undefined {
  const parameters: HeaderParameter[] = [];
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < text.length) {
    const match = PARAMETER.exec(text);
    if (match === null) return undefined;
    const [, name = '', token, quoted = ''] = match;
    parameters.push({
      name: name.toLowerCase(),
      value: token ?? quoted.replace(/\\(["\\])/g, '$1'),
      quoted: token === undefined,
    });
  }
  return parameters;
}

/** The text without blanks (space, tab) at both ends; unlike `trim`, it leaves U+00A0 and other bytes alone. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

/** What a client sent, quoted for a message: its beginning, with quotes and control characters escaped. */
export function quoteSent(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}

function isBlank(text: string, index: number): boolean {
  return text[index] === ' ' || text[index] === '\t';
}
