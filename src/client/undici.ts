/**
 * What the client needs of undici, from the files that have it: undici's index loads four times as many, for what is never used
 * here, and that is most of the start of a short command. The version is fixed in package.json, and so are these paths.
 */
import type * as undici from 'undici';
// @ts-expect-error: undici declares types for its index alone.
import request from 'undici/lib/api/api-request.js';
// @ts-expect-error: as above.
import errorClasses from 'undici/lib/core/errors.js';
// @ts-expect-error: as above.
import pool from 'undici/lib/dispatcher/pool.js';

type Request = (
  this: undici.Dispatcher,
  options: undici.Dispatcher.RequestOptions,
) => Promise<undici.Dispatcher.ResponseData>;

export const Pool = pool as typeof undici.Pool;
export const errors = errorClasses as typeof undici.errors;

/** A method of every dispatcher, but it is undici's index that puts it there. */
export const requestOver = (
  dispatcher: undici.Dispatcher,
  options: undici.Dispatcher.RequestOptions,
): Promise<undici.Dispatcher.ResponseData> =>
  dispatcher instanceof Pool ? (request as Request).call(dispatcher, options) : dispatcher.request(options);
