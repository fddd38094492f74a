import { describe, expect, it } from 'vitest';
import { boundaryOf } from '../../src/http/multipart-headers.ts';

const LONGEST = 'b'.repeat(70);

describe('the boundary of a request', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;BOUNDARY=abc', 'abc'],
    ['multipart/form-data; charset=utf-8; boundary=abc', 'abc'],
    ['multipart/form-data ; boundary="abc" ; x="a\\"; boundary=evil"', 'abc'],
    ['multipart/form-data; boundary="===============12 3=="', '===============12 3=='],
    [`multipart/form-data; boundary="a'()+_,-./:=?z"`, `a'()+_,-./:=?z`],
    [`multipart/form-data; boundary=${LONGEST}`, LONGEST],
  ])('is read from %s', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary);
  });

  it.each([
    undefined,
    '',
    'application/json',
    'multipart/mixed; boundary=abc',
    'multipart/form-data2; boundary=abc',
  ])('is not looked for in another media type: %s', (contentType) => {
    expect(() => boundaryOf(contentType)).toThrow(
      expect.objectContaining({
        code: 'unsupported_media_type',
        details: { expected: 'multipart/form-data' },
      }),
    );
  });

  it.each([
    ['missing', 'multipart/form-data'],
    ['missing among others', 'multipart/form-data; charset=utf-8'],
    ['empty', 'multipart/form-data; boundary='],
    ['empty in quotes', 'multipart/form-data; boundary=""'],
    ['too long', `multipart/form-data; boundary=${LONGEST}b`],
    ['given twice', 'multipart/form-data; boundary=abc; boundary=abc'],
    ['given in both spellings', `multipart/form-data; boundary=abc; boundary*=UTF-8''abc`],
    ['extended', `multipart/form-data; boundary*=UTF-8''abc`],
    ['continued', 'multipart/form-data; boundary*0=a; boundary*1=b'],
    ['escaped', 'multipart/form-data; boundary="a\\bc"'],
    ['with an escaped quote', 'multipart/form-data; boundary="a\\"c"'],
    ['percent-encoded', 'multipart/form-data; boundary=a%62c'],
    ['ending in a space', 'multipart/form-data; boundary="abc "'],
    ['not ASCII', 'multipart/form-data; boundary="\u00e9"'],
    ['unquoted with separators', 'multipart/form-data; boundary=a:c'],
    ['followed by text', 'multipart/form-data; boundary="abc"d'],
    ['an open quote', 'multipart/form-data; boundary="abc'],
    ['apart from its name', 'multipart/form-data; boundary =abc'],
  ])('is refused when it is %s', (_, contentType) => {
    expect(() => boundaryOf(contentType)).toThrow(expect.objectContaining({ code: 'malformed_multipart' }));
  });
});
