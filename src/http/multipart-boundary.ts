import { SnapshotError } from '../contract/errors.ts';
import { quoteSent, readHeaderParameters, trimBlanks } from './header-parameters.ts';

const MEDIA_TYPE = 'multipart/form-data';

// RFC 2046, 5.1.1: 1 to 70 characters of this set, the last of them not a space. The set holds neither a backslash
// nor a percent sign, so no way of unescaping a value that passes can read it as another boundary.
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * The boundary that a request's Content-Type declares: 1 to 70 characters.
 *
 * @throws SnapshotError `unsupported_media_type` when the media type is not multipart/form-data;
 *   `malformed_multipart` when the parameters cannot be read in one way only, or when there is not exactly one
 *   legal `boundary`.
 */
export function boundaryOf(contentType: string | undefined): string {
  const value = trimBlanks(contentType ?? '');
  const semicolon = value.indexOf(';');
  const mediaType = trimBlanks(semicolon === -1 ? value : value.slice(0, semicolon));
  if (mediaType.toLowerCase() !== MEDIA_TYPE) {
    const actual = value === '' ? 'none' : quoteSent(mediaType);
    throw new SnapshotError(
      'unsupported_media_type',
      `The Content-Type of the request is ${actual}; send a ${MEDIA_TYPE} body with a boundary parameter.`,
      { expected: MEDIA_TYPE },
    );
  }
  const parameters = semicolon === -1 ? [] : readHeaderParameters(value.slice(semicolon));
  if (parameters === undefined) {
    throw refused('has parameters that cannot be read as "; name=token" or "; name=<quoted string>"');
  }
  // `boundary*` is another spelling of the same parameter (RFC 8187), which parsers resolve differently.
  const spelled = parameters.filter(({ name }) => name.split('*')[0] === 'boundary');
  const [boundary] = spelled;
  if (boundary === undefined) throw refused('has no boundary parameter');
  if (spelled.length > 1) throw refused('names the boundary more than once');
  if (boundary.name !== 'boundary') throw refused('spells the boundary as an extended parameter');
  if (!BOUNDARY.test(boundary.value)) {
    throw refused(
      'has a boundary that is not 1 to 70 characters of RFC 2046, 5.1.1, ending in other than a space',
    );
  }
  return boundary.value;
}

function refused(what: string): SnapshotError {
  return new SnapshotError(
    'malformed_multipart',
    `The Content-Type of the request ${what}; let the HTTP client write it, or send ${MEDIA_TYPE}; boundary=<token>.`,
    {},
  );
}
