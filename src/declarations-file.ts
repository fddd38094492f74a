/** Why a declarations file cannot be used, in one line for the operator. */
import { isAnySnapshotError, messageInFull } from './contract/errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not read it',
};

/** `error` is what reading or parsing it threw. */
export function declarationsRefusal(path: string, error: unknown): string {
  if (isAnySnapshotError(error)) return `the declarations in ${path} cannot be used: ${messageInFull(error)}`;
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const reason = REASONS[code];
  return `the declarations in ${path} cannot be read: ${reason === undefined ? code : `${reason} (${code})`}`;
}
