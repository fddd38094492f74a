/** Text from producers, made safe to look at: nothing in it can hide, reorder or pass for something else. */

/**
 * What is shown as its code point: controls, format characters such as directions, lone surrogates, separators, blanks other
 * than the space, private and unassigned characters, and those that fonts draw as nothing.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u3164\uffa0]|(?! )\p{Zs}|^ +| +$/gu;

const SHORT: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\\0',
  ' ': '␣',
};

/** How a hidden character is written: `\n`, or `U+202E`. */
function codePoint(char: string): string {
  return SHORT[char] ?? `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

export interface Piece {
  readonly text: string;
  /** Stands for a character that would not be seen. */
  readonly isEscape: boolean;
}

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), isEscape: false });
    for (const char of match[0]) found.push({ text: codePoint(char), isEscape: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), isEscape: false });
  return found;
}

/** One line for titles and labels, where nothing can be marked. */
export function plain(text: string, most = 120): string {
  const start = cut(text, most);
  const shown = pieces(start)
    .map((piece) => piece.text)
    .join('');
  return start.length < text.length ? `${shown}…` : shown;
}

/** The beginning, at most so many UTF-16 units and never half of a pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
