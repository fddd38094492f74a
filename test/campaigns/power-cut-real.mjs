/**
 * Cuts the power of a real file system: the server publishes on a loop-mounted ext4 and xfs, the file system is shut down
 * without flushing its log, mounted again, and served again.
 *
 *     node test/campaigns/power-cut-real.mjs [--seed 1] [--rounds 10] [--seconds 300]
 *
 * Needs root, loop devices, strace, xfs_io and mkfs.xfs (xfsprogs); what is missing is said and skipped. Exits 1 on a
 * violation, or when such cuts go unnoticed with a server whose syncs do nothing.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {
  checkRoot,
  finish,
  flagsOf,
  hasCommand,
  idOf,
  payloadOf,
  publish,
  randomOf,
  request,
  skipped,
  sleep,
  startServer,
  summary,
  temporaryDirectory,
} from './support.mjs';

const { seed, rounds, seconds } = flagsOf({ seed: 1, rounds: 10, seconds: 300 });
const MEBIBYTE = 1024 * 1024;
const FILE_SYSTEMS = {
  // xfs refuses to be smaller.
  xfs: { size: 320 * MEBIBYTE, make: ['mkfs.xfs', '-q', '-f'] },
  ext4: { size: 128 * MEBIBYTE, make: ['mkfs.ext4', '-q', '-F'] },
};
const CLIENTS = 4;
/**
 * When the power goes: at any time while several clients publish; or right after the rename, or after the answer, of a
 * single publication, as the syncs of later ones would make its names durable by chance.
 */
const MOMENTS = { any: CLIENTS, renamed: 1, answered: 1 };
/** A fresh file system after so many cuts, or every start would have to prove ever more snapshots. */
const CUTS_PER_IMAGE = 5;
const LIE = [
  'strace',
  '-f',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  'trace=fsync,fdatasync',
  '-e',
  'inject=fsync,fdatasync:retval=0',
];
/**
 * For cuts between the rename and its syncs. An fsync that comes after the file system has gone must not count: xfs
 * answers 0 to that of a directory which was opened before.
 */
const slowRooms = (root) => [
  ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:delay_enter=200000'],
  ...['-P', path.join(root, 'snapshots'), '-P', path.join(root, 'staging')],
];
/**
 * Servers that promise too much, by what they do not sync.
 */
const LIARS = {
  'without any fsync': { under: () => LIE, moment: 'any' },
  'without fsync of the two rooms': {
    under: (root) => [...LIE, '-P', path.join(root, 'snapshots'), '-P', path.join(root, 'staging')],
    moment: 'answered',
  },
};

const work = temporaryDirectory();
const mounted = new Set();
process.on('exit', () => {
  for (const mount of mounted) spawnSync('umount', ['-l', mount]);
});

function whyNot(type) {
  if (process.platform !== 'linux' || process.getuid() !== 0) return 'mounting needs root on Linux';
  if (!hasCommand('xfs_io', ['-V'])) return 'xfs_io is not installed (package xfsprogs)';
  const { make } = FILE_SYSTEMS[type];
  if (!hasCommand(make[0], ['-V'])) return `${make[0]} is not installed`;
  try {
    const disk = new Disk(type);
    disk.mount();
    disk.unmount();
    disk.remove();
    return null;
  } catch (error) {
    return error.message;
  }
}

async function soundRun(campaign, type, under, moment) {
  const cuts = moment === 'any' ? rounds : Math.min(rounds, 5);
  const sound = await cutRepeatedly(type, { cuts, under, moment });
  summary(
    campaign,
    `${sound.cuts} cuts, ${sound.acknowledged} acknowledged, ${sound.unknown} unanswered`,
    sound.violations,
  );
}

async function cutRepeatedly(type, { cuts, under, moment }) {
  const until = Date.now() + (seconds * 1000) / Object.keys(FILE_SYSTEMS).length / 2;
  const random = randomOf(seed);
  const tally = { cuts: 0, acknowledged: 0, unknown: 0, violations: [] };
  let disk = null;
  let known = new Map();
  let nextId = 1;
  while (tally.cuts < cuts && (tally.cuts === 0 || Date.now() < until)) {
    if (disk === null || tally.cuts % CUTS_PER_IMAGE === 0) {
      disk?.remove();
      disk = new Disk(type);
      known = new Map();
    }
    disk.mount();
    const cut = await publishUntilCut(disk, { random, under, moment, firstId: nextId, known });
    nextId = cut.nextId;
    tally.cuts += 1;
    tally.acknowledged += cut.acknowledged;
    tally.unknown += cut.unknown.length;
    disk.mount();
    const report = (text) => tally.violations.push(`${type}, seed ${seed}, cut ${tally.cuts}: ${text}`);
    await judge(disk, known, cut.unknown, report);
    disk.unmount();
    if (tally.violations.length > 0) break;
  }
  disk?.remove();
  return tally;
}

/** Clients publish one snapshot after the other until the disk is gone; what was answered 201 goes into `known`. */
async function publishUntilCut(disk, { random, under, moment, firstId, known }) {
  const server = await startServer(disk.root, { under: under(disk.root) });
  let nextId = firstId;
  let acknowledged = 0;
  let over = false;
  const unknown = [];
  let begun = () => undefined;
  const first = new Promise((resolve) => {
    begun = resolve;
  });
  const client = async () => {
    while (!over) {
      const id = idOf(nextId);
      nextId += 1;
      const arrays = {};
      for (const key of ['a', 'b', 'c'].slice(0, 1 + Math.floor(random() * 3))) {
        const large = random() < 0.1;
        arrays[key] = payloadOf(random, Math.floor(random() * (large ? 2 * MEBIBYTE : 20_000)));
      }
      const answer = await publish(server.url, id, arrays);
      begun();
      if (answer.status === 201) {
        acknowledged += 1;
        known.set(id, answer.sha256);
        if (moment !== 'any') return;
      } else {
        unknown.push(id);
        // After the cut everything is refused at once.
        if (answer.status === 0 || answer.status >= 500) return;
      }
    }
  };
  const clients = Array.from({ length: MOMENTS[moment] }, client);
  if (moment === 'renamed') await appears(path.join(disk.root, 'snapshots', idOf(firstId)));
  else await first;
  if (moment === 'any') await sleep(Math.floor(random() * 1200));
  disk.cut();
  await sleep(300);
  over = true;
  await server.kill();
  await Promise.all(clients);
  disk.unmount();
  return { acknowledged, unknown, nextId };
}

async function appears(file) {
  while (!fs.existsSync(file)) await sleep(1);
  // The directories that are about to be synced are open by then.
  await sleep(50);
}

async function judge(disk, known, unknown, report) {
  let server;
  try {
    server = await startServer(disk.root);
  } catch (error) {
    report(`the service does not start again: ${error.message}`);
    return;
  }
  const listed = await checkRoot(server.url, known, report);
  // Nobody was told of these: they may be there, and then they are as good as any, or not.
  for (const id of unknown) {
    const { status, sha256 } = await request(`${server.url}/snapshots/${id}`);
    if (status === 200) known.set(id, sha256);
    if ((status === 200) !== (listed?.has(id) ?? status === 200) || ![200, 404].includes(status)) {
      report(`${id}, never answered, answers ${status}`);
    }
  }
  const [last] = [...known.keys()].slice(-1);
  if (last !== undefined && listed !== null) {
    const again = await publish(server.url, last, { a: Buffer.from('other bytes') });
    if (again.status !== 409) report(`publishing ${last} again answers ${again.status}`);
  }
  await server.kill();
}

class Disk {
  constructor(type) {
    const { size, make } = FILE_SYSTEMS[type];
    this.directory = fs.mkdtempSync(path.join(work, `${type}-`));
    this.image = path.join(this.directory, 'image');
    this.mountPoint = path.join(this.directory, 'mnt');
    this.root = path.join(this.mountPoint, 'store');
    fs.mkdirSync(this.mountPoint);
    fs.closeSync(fs.openSync(this.image, 'w'));
    fs.truncateSync(this.image, size);
    run([...make, this.image]);
  }

  mount() {
    run(['mount', '-o', 'loop', this.image, this.mountPoint]);
    mounted.add(this.mountPoint);
  }

  /** Everything that was not written by now is lost, the log included. */
  cut() {
    run(['xfs_io', '-x', '-c', 'shutdown', this.mountPoint]);
  }

  unmount() {
    for (let tries = 0; ; tries += 1) {
      try {
        run(['umount', this.mountPoint]);
        break;
      } catch (error) {
        // A killed server's last system call may still be returning.
        if (tries === 20) throw error;
        spawnSync('sleep', ['0.1']);
      }
    }
    mounted.delete(this.mountPoint);
  }

  remove() {
    fs.rmSync(this.directory, { recursive: true, force: true });
  }
}

function run([command, ...args]) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} failed: ${stderr.trim()}`);
}

for (const type of Object.keys(FILE_SYSTEMS)) {
  const campaign = `power cut, real, ${type}`;
  const obstacle = whyNot(type);
  if (obstacle !== null) {
    skipped(campaign, obstacle);
    continue;
  }
  await soundRun(campaign, type, () => [], 'any');
  if (hasCommand('strace', ['-V']))
    await soundRun(`${campaign}, before the rooms are synced`, type, slowRooms, 'renamed');
  for (const [lie, { under, moment }] of Object.entries(LIARS)) {
    if (!hasCommand('strace', ['-V'])) {
      skipped(`${campaign}, ${lie}`, 'strace is not installed');
      continue;
    }
    const unsound = await cutRepeatedly(type, { cuts: 5, under, moment });
    console.error(`  ${lie}: ${unsound.violations[0] ?? 'nothing noticed'}`);
    summary(
      `${campaign}, ${lie}`,
      `noticed after ${unsound.cuts} cuts: ${unsound.violations.length} broken promises`,
      unsound.violations.length > 0 ? [] : [`a server ${lie} was not noticed`],
    );
  }
}
finish();
