import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

// Daemons live where a plain user's PATH often does not look.
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

/** @param {string} name @returns {string | null} the path of a program that can be executed */
export function findProgram(name) {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...EXTRA_FOLDERS];
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
