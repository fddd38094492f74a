/** Which files are published as which arrays. */
import { arrayKeyOfFileName } from '../contract/package.ts';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileInput } from '../client/index.ts';
import { DTYPE_NAMES, isDtype } from '../contract/dtypes.ts';
import { isArrayKey, type ArrayKey } from '../contract/ids.ts';
import { reasonOf, UsageError } from './exit-codes.ts';

export type FileInputs = Readonly<Record<ArrayKey, FileInput>>;

/** `key=path[:dtype]` as an array. Throws `UsageError`. */
function parseArrayArgument(argument: string): readonly [ArrayKey, FileInput] {
  const at = argument.indexOf('=');
  const key = argument.slice(0, Math.max(at, 0));
  const rest = argument.slice(at + 1);
  if (at === -1 || rest === '') {
    throw new UsageError(`expected an array as key=path[:dtype], found ${JSON.stringify(argument)}`);
  }
  if (!isArrayKey(key)) {
    throw new UsageError(`${JSON.stringify(key)} is no array key: expected [a-z][a-z0-9_]{0,63}`);
  }
  const colon = rest.lastIndexOf(':');
  const suffix = rest.slice(colon + 1);
  if (colon > 0 && isDtype(suffix)) return [key, { path: rest.slice(0, colon), dtype: suffix }];
  if (colon > 0 && !existsSync(rest) && existsSync(rest.slice(0, colon))) {
    throw new UsageError(
      `${JSON.stringify(suffix)} is no dtype: expected one of ${DTYPE_NAMES.join(', ')} in ${argument}`,
    );
  }
  return [key, { path: rest }];
}

const NPY_NAME = /^array-(?<key>.+)\.npy$/u;

/** Every `array-<key>.bin` and `array-<key>.npy` of a directory. Throws if it cannot be listed or holds a key twice. */
async function arraysOfDirectory(directory: string): Promise<FileInputs> {
  const names = await readdir(directory).catch((error: unknown) => {
    throw new Error(`--dir ${directory} cannot be listed (${reasonOf(error)})`, { cause: error });
  });
  const arrays = Object.create(null) as Record<ArrayKey, FileInput>;
  for (const name of names.sort()) {
    const key = arrayKeyOfFileName(name) ?? NPY_NAME.exec(name)?.groups?.['key'];
    if (!isArrayKey(key)) continue;
    if (key in arrays)
      throw new Error(
        `--dir ${directory} holds the array ${key} both as .bin and as .npy; keep one of them there`,
      );
    arrays[key] = { path: join(directory, name) };
  }
  return arrays;
}

/** Arguments over the files of `directory`. Throws `UsageError` for a key given twice. */
export async function collectArrays(
  args: readonly string[],
  directory: string | undefined,
): Promise<FileInputs> {
  const arrays = Object.create(null) as Record<ArrayKey, FileInput>;
  if (directory !== undefined) Object.assign(arrays, await arraysOfDirectory(directory));
  const given = new Set<string>();
  for (const argument of args) {
    const [key, input] = parseArrayArgument(argument);
    if (given.has(key)) throw new UsageError(`the array ${key} is given twice`);
    given.add(key);
    arrays[key] = input;
  }
  return arrays;
}
