/** How the command ends: one table of statuses and codes, and what people and scripts are told about a failure. */
import { isProblemError, SnapshotClientError, type ClientErrorCode, type Problem } from '../client/errors.ts';
import { isAnySnapshotError, type ErrorCode, type SnapshotError } from '../contract/errors.ts';
import { inert } from '../contract/text.ts';
import { PROBLEMS } from '../contract/problems.ts';
import { note } from './output.ts';

const STATUSES = {
  ok: [0, 'done'],
  failed: [1, 'refused or failed; the message says why'],
  usage: [2, 'wrong use of the command'],
  notFound: [3, 'no such snapshot or array'],
  integrity: [4, 'bytes do not match their SHA-256, stored, received or written'],
  connection: [5, 'no connection, no answer in time, or no snapshot service there'],
  unknown: [6, 'a snapshot was sent, and whether it is published is unknown'],
  interrupted: [130, 'interrupted by Ctrl-C (143 by SIGTERM); the message says what stays where'],
} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;

type Ending = keyof typeof STATUSES;

export function statusOf(ending: Ending): number {
  return STATUSES[ending][0];
}

export const STATUS_HELP = `Exit status:\n${Object.values(STATUSES)
  .map(([status, meaning]) => `${String(status).padStart(3)}  ${meaning}`)
  .join('\n')}`;

/** What goes wrong in the command itself. */
type CommandErrorCode = 'usage' | 'target_exists' | 'ambiguous_id' | 'interrupted' | 'failed';

/** Every code that is not the contract's. */
const OWN_CODES: Readonly<
  Record<CommandErrorCode | ClientErrorCode, { readonly ending: Ending; readonly title: string }>
> = {
  usage: { ending: 'usage', title: 'Wrong use of the command' },
  target_exists: { ending: 'failed', title: 'Something else is there already' },
  ambiguous_id: { ending: 'failed', title: 'Several snapshots have ids that begin so' },
  interrupted: { ending: 'interrupted', title: 'The command was interrupted' },
  failed: { ending: 'failed', title: 'The command failed' },
  connection_failed: { ending: 'connection', title: 'The service cannot be reached' },
  timeout: { ending: 'connection', title: 'The service did not answer in time' },
  checksum_mismatch: { ending: 'integrity', title: 'The bytes are not the ones published' },
  protocol_violation: { ending: 'connection', title: 'The answer is not that of a snapshot service' },
  source_failed: { ending: 'failed', title: 'An array cannot be read' },
  too_large: { ending: 'failed', title: 'An array does not fit into memory' },
  outcome_unknown: { ending: 'unknown', title: 'Whether the snapshot is published is unknown' },
  invalid_option: { ending: 'usage', title: 'Wrong use of the command' },
};

/** How refusals of an HTTP status end; all others with 1. */
const BY_STATUS: Readonly<Record<number, Ending>> = { 404: 'notFound', 503: 'connection' };

/** Codes that end otherwise than others of their HTTP status. */
const BY_CODE: Partial<Readonly<Record<ErrorCode, Ending>>> = {
  // A path without a resource is that of no snapshot service: the base path in the URL is wrong.
  not_found: 'connection',
  storage_integrity: 'integrity',
  unsupported_package: 'integrity',
};

function endingOf(code: ErrorCode): Ending {
  // A newer service may send codes that are not in the table.
  const known = Object.hasOwn(PROBLEMS, code) ? BY_STATUS[PROBLEMS[code].status] : undefined;
  return BY_CODE[code] ?? known ?? 'failed';
}

/** Refused here, before anything was sent: what was typed is wrong. */
const WRONG_WORDS: readonly string[] = ['invalid_snapshot_id', 'invalid_request'];

export class CommandError extends Error {
  readonly code: CommandErrorCode | 'checksum_mismatch';
  /** Instead of the status of the code. */
  readonly status: number | null;

  constructor(
    code: CommandError['code'],
    message: string,
    { status = null, ...options }: ErrorOptions & { readonly status?: number | null } = {},
  ) {
    super(message, options);
    this.name = 'CommandError';
    this.code = code;
    this.status = status;
  }
}

/** Wrong use that the argument parser cannot see. */
export function wrongUse(message: string): CommandError {
  return new CommandError('usage', message);
}

/** The system's code of a failure (`ENOENT`), or its message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

export function exitStatusOf(error: unknown): number {
  if (error instanceof CommandError && error.status !== null) return error.status;
  if (isProblemError(error) && error.local && WRONG_WORDS.includes(error.code)) return statusOf('usage');
  if (isAnySnapshotError(error)) return statusOf(endingOf(error.code));
  const own = ownCodeOf(error);
  return own === null ? statusOf('failed') : statusOf(OWN_CODES[own].ending);
}

function ownCodeOf(error: unknown): keyof typeof OWN_CODES | null {
  if (!(error instanceof CommandError || error instanceof SnapshotClientError)) return null;
  return Object.hasOwn(OWN_CODES, error.code) ? (error.code as keyof typeof OWN_CODES) : null;
}

/** One problem document (RFC 9457) on one line; what did not come from a service has no page and no status. */
function problemDocumentOf(error: unknown): object {
  if (isProblemError(error)) return error.problem;
  const detail = messageOf(error);
  if (isAnySnapshotError(error)) {
    const { code, details } = error;
    const { status, title } = PROBLEMS[code];
    return { type: `/problems/${code}`, title, status, detail, code, ...details };
  }
  const code = ownCodeOf(error) ?? 'failed';
  const cause = error instanceof Error && isProblemError(error.cause) ? { cause: error.cause.problem } : {};
  return { type: 'about:blank', title: OWN_CODES[code].title, detail, code, ...cause };
}

/** One clear line and one more for each violation or piece of advice; with `json` one document on one line. */
export function reportError(error: unknown, json: boolean): void {
  if (json) {
    note(inert(JSON.stringify(problemDocumentOf(error))));
    return;
  }
  const [first = '', ...more] = isAnySnapshotError(error) ? refusalLines(error) : [messageOf(error)];
  note(`pipewhy-snapshots: ${inert(first)}`);
  for (const line of more) note(`  ${inert(line)}`);
}

/** A refusal in lines: what the sentence only counts is listed, and advice names commands, not routes. */
function refusalLines(error: SnapshotError): readonly string[] {
  const violations = error.errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  switch (error.code) {
    // Their sentences hold the first violation and count the others.
    case 'contract_violation':
    case 'array_mismatch':
    case 'storage_integrity':
      return violations.length > 1 ? violations : [error.message];
    case 'unsupported_package':
      return ['The snapshot is of a kind that is not supported where it is read.', ...violations];
    case 'fingerprint_context_mismatch':
      return [
        'The fingerprint is not that of a context which the service knows.',
        ...violations,
        'pipewhy-snapshots contexts shows those it knows; another has to be declared by its operator.',
      ];
    case 'snapshot_not_found': {
      const { snapshot_id: id } = error.details as SnapshotError<'snapshot_not_found'>['details'];
      return [
        `No snapshot ${id} is published there.`,
        'pipewhy-snapshots ls lists what is; pipewhy-snapshots incomplete shows attempts that did not get there.',
      ];
    }
    case 'array_not_found': {
      const { snapshot_id: id, array } = error.details as SnapshotError<'array_not_found'>['details'];
      return [`Snapshot ${id} has no array ${array}.`, `pipewhy-snapshots show ${id} names those it has.`];
    }
    case 'not_found':
      return [`No snapshot service answers under this URL: check the path in --url (SNAPSHOTS_URL).`];
    case 'unauthorized':
      return [error.message, 'Give the token with --token or, better, SNAPSHOTS_TOKEN.'];
    case 'snapshot_exists':
      return [error.message, ...confirmLines(error)];
    default:
      return [
        error.message,
        ...violations.filter((line) => !error.message.includes(line)),
        ...(error.attempt === undefined
          ? []
          : ['What arrived stays as evidence: pipewhy-snapshots incomplete.']),
      ];
  }
}

function confirmLines(error: SnapshotError): readonly string[] {
  if (!isProblemError(error) || error.local) return [];
  const { manifest_sha256: stored, computed_manifest_sha256: computed } =
    error.problem as Problem<'snapshot_exists'>;
  return [
    ...(stored === undefined ? [] : [`stored manifest sha256    ${stored}`]),
    ...(computed === undefined ? [] : [`manifest sha256 of these  ${computed}`]),
    stored === undefined || computed === undefined || stored === computed
      ? 'With --if-exists confirm it is a success if what is stored is the same snapshot.'
      : 'They differ, so --if-exists confirm would refuse it too.',
  ];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
