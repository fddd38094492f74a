/** The ways in which one file of a package can be damaged. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';

export type Damage = (file: string) => void;

function rewrite(change: (bytes: Buffer) => Buffer): Damage {
  return (file) => {
    fs.writeFileSync(file, change(fs.readFileSync(file)));
  };
}

const FIFO_COMMAND = 'mkfifo';

export function makeFifo(path: string): void {
  execFileSync(FIFO_COMMAND, [path]);
}

/** Inverts one bit; a negative offset counts from the end. */
export function flip(offset: number, bit = 0): Damage {
  return rewrite((bytes) => {
    const at = offset < 0 ? bytes.length + offset : offset;
    bytes[at]! ^= 1 << bit;
    return bytes;
  });
}

/** Moves the file aside, out of its package, and gives its new place. */
function aside(file: string): string {
  const place = join(dirname(dirname(dirname(file))), 'aside');
  fs.renameSync(file, place);
  return place;
}

export const DAMAGES: Readonly<Record<string, Damage>> = {
  'first byte flipped': flip(0),
  'byte in the middle flipped': (file) => {
    flip(Math.floor(fs.statSync(file).size / 2), 3)(file);
  },
  'last byte flipped': flip(-1, 7),
  'last byte cut off': rewrite((bytes) => bytes.subarray(0, -1)),
  'first byte cut off': rewrite((bytes) => bytes.subarray(1)),
  'one byte longer': rewrite((bytes) => Buffer.concat([bytes, Buffer.from([0])])),
  'a newline longer': rewrite((bytes) => Buffer.concat([bytes, Buffer.from('\n')])),
  doubled: rewrite((bytes) => Buffer.concat([bytes, bytes])),
  emptied: rewrite(() => Buffer.alloc(0)),
  'zeros of the same length': rewrite((bytes) => Buffer.alloc(bytes.length)),
  missing: (file) => {
    fs.rmSync(file);
  },
  renamed: (file) => {
    fs.renameSync(file, `${file}.bak`);
  },
  'renamed to a hidden file': (file) => {
    fs.renameSync(file, join(dirname(file), '.tmp'));
  },
  'a link to identical bytes': (file) => {
    fs.symlinkSync(aside(file), file);
  },
  'a dangling link': (file) => {
    fs.rmSync(file);
    fs.symlinkSync('nowhere', file);
  },
  'a FIFO': (file) => {
    fs.rmSync(file);
    makeFifo(file);
  },
  'an empty directory': (file) => {
    fs.rmSync(file);
    fs.mkdirSync(file);
  },
};

/** What damages a package whatever its files are: a name that does not belong to it. */
export const INTRUDERS: Readonly<Record<string, (directory: string) => void>> = {
  'a stray file': (directory) => {
    fs.writeFileSync(join(directory, 'notes.txt'), '');
  },
  'an unlisted array': (directory) => {
    fs.writeFileSync(join(directory, 'array-more.bin'), '');
  },
  'a hidden file': (directory) => {
    fs.writeFileSync(join(directory, '.DS_Store'), '');
  },
  'a name of broken UTF-8': (directory) => {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]), '');
  },
  'a directory': (directory) => {
    fs.mkdirSync(join(directory, 'd'));
  },
  'a link to its own manifest': (directory) => {
    fs.symlinkSync('manifest.json', join(directory, 'latest'));
  },
  'a FIFO': (directory) => {
    makeFifo(join(directory, 'pipe'));
  },
};
