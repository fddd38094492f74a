/** Small damages to documents and bytes, each decided by a random function, so that a seed repeats them. */

const pick = (random, list) => list[Math.floor(random() * list.length)];
const upTo = (random, bound) => Math.floor(random() * bound);

/** Values that look right, or nearly; `raw` is written into the JSON as it is. */
export class Raw {
  constructor(raw) {
    this.raw = raw;
  }
}

const ODD_VALUES = [
  null, true, false, '', '0', '00', '1', '-1', '+1', ' 1', '1 ', '1.0', '1e0', '18446744073709551615', '18446744073709551616',
  '٣', 'COMPLETE', 'PARTIAL', 'UNAVAILABLE', 'complete', 'record', 'value', 'uint8', 'UINT8', 'int64', 'float64', 'little', 'big',
  '0'.repeat(32), 'f'.repeat(32), `${'0'.repeat(31)}a\n`, 'A'.repeat(32), 'é', '\u0000', ' ', '\u2028', '\ud83d\ude00',
  0, 1, -1, 1.5, [], {}, [''], ['reason'], ['a', null], { a: 1 },
  new Raw('1.0'), new Raw('1e0'), new Raw('-0'), new Raw('01'), new Raw('NaN'), new Raw('Infinity'), new Raw('1E400'),
  new Raw('"\\ud800"'), new Raw('"\\udc00\\ud800"'), new Raw('"\\u0061"'), new Raw('"\t"'), new Raw('"\\x41"'), new Raw('"\\/"'),
  new Raw('18446744073709551615'), new Raw('"a"/**/'), new Raw("'a'"), new Raw('[1,]'), new Raw('{"a":1,"a":1}'),
  new Raw('{"a":1,"\\u0061":2}'), new Raw('[[[[[[[[]]]]]]]]'),
]; // prettier-ignore

const ODD_NAMES = [
  'extra',
  '',
  '__proto__',
  'constructor',
  'Ids',
  'ids ',
  'metadata',
  'a'.repeat(64),
  'a'.repeat(65),
  '0a',
  'a-b',
  'ïds',
  'con',
];

/** A copy, so that no document shares a container with another one or with itself. */
function oddValue(random) {
  const value = pick(random, ODD_VALUES);
  return value instanceof Raw ? value : structuredClone(value);
}

/** Every container of a document. */
function containersOf(value, found = []) {
  if (value === null || typeof value !== 'object' || value instanceof Raw) return found;
  found.push(value);
  for (const child of Object.values(value)) containersOf(child, found);
  return found;
}

function setOwn(target, name, value) {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Changes one thing in a document in place. */
export function damageDocument(random, document) {
  const target = pick(random, containersOf(document));
  const names = Object.keys(target);
  const name = names.length === 0 ? undefined : pick(random, names);
  switch (upTo(random, 5)) {
    case 0:
      if (name !== undefined && !Array.isArray(target)) delete target[name];
      break;
    case 1:
      if (Array.isArray(target)) target.push(oddValue(random));
      else setOwn(target, pick(random, ODD_NAMES), oddValue(random));
      break;
    case 2:
      if (name !== undefined && !Array.isArray(target)) {
        setOwn(target, pick(random, ODD_NAMES), target[name]);
        delete target[name];
      }
      break;
    default:
      if (name !== undefined) setOwn(target, name, oddValue(random));
  }
}

/** JSON of a document in its own order of members, raw parts as they are. */
export function spell(value, space = '') {
  if (value instanceof Raw) return value.raw;
  if (Array.isArray(value)) return `[${value.map((item) => spell(item, space)).join(`,${space}`)}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}:${space}${spell(item, space)}`,
  );
  return `{${members.join(`,${space}`)}}`;
}

const PIECES = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\',
  '\\u0000',
  '\n',
  ' ',
  '\0',
  '\ufeff',
  '0',
  '1',
  'é',
  '\r\n',
  '--',
  '\r\n--',
  '=',
  ';',
];

/** Changes some bytes: flips, cuts, doubles, inserts or swaps. */
export function damageBytes(random, bytes) {
  const at = upTo(random, bytes.length + 1);
  const length = 1 + upTo(random, random() < 0.8 ? 4 : 64);
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(Math.min(bytes.length, at + length));
  switch (upTo(random, 6)) {
    case 0: {
      const changed = Buffer.from(bytes);
      if (at < changed.length) changed[at] ^= 1 << upTo(random, 8);
      return changed;
    }
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, bytes.subarray(at, at + length), bytes.subarray(at)]);
    case 3:
      return Buffer.concat([before, Buffer.from(pick(random, PIECES)), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([before, Buffer.from([upTo(random, 256)]), bytes.subarray(at)]);
    default:
      return Buffer.from(before);
  }
}

export { pick, upTo };
