import { arrayKeyOfFileName, payloadFileName } from '../../src/contract/package.ts';
import { describe, expect, test } from 'vitest';

import { isArrayKey, isSnapshotId } from '../../src/contract/ids.ts';
import { ID } from './examples.ts';

describe('snapshot ids are 32 lowercase hex digits as a whole string', () => {
  test('a snapshot id is accepted', () => expect(isSnapshotId(ID)).toBe(true));

  test.each([`${ID}\n`, `\n${ID}`, ID.toUpperCase(), ID.slice(1), `${ID}0`, '', '../', 5, null, [ID]])(
    '%j is refused',
    (value) => expect(isSnapshotId(value)).toBe(false),
  );
});

describe('array keys are [a-z][a-z0-9_]{0,63} as a whole string', () => {
  test.each(['a', 'constructor', 'metadata', 'con', 'z9_', 'a'.repeat(64)])('%s is accepted', (key) => {
    expect(isArrayKey(key)).toBe(true);
    expect(arrayKeyOfFileName(payloadFileName(key))).toBe(key);
  });

  test.each(['', 'A', '1a', '_a', 'a-b', 'a.b', 'a\n', '../x', 'ä', '__proto__', 'a'.repeat(65), 1])(
    '%j is refused',
    (key) => {
      expect(isArrayKey(key)).toBe(false);
      expect(arrayKeyOfFileName(`array-${key}.bin`)).toBeNull();
    },
  );

  test.each(['array-a.bin\n', 'xarray-a.bin', 'array-a_bin', 'a.bin', 'Array-a.bin', 'manifest.json'])(
    '%j is no payload file',
    (name) => expect(arrayKeyOfFileName(name)).toBeNull(),
  );
});
