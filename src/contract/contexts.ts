/** The C3 declarations: which fingerprint algorithms and contexts are current (PW-07.01, PW-07.05). */

import { listOf, meaning, objectOf, text } from './checks.ts';
import type { Checked, ObjectOf, ValidFields } from './checks.ts';
import { ContractViolationError, SnapshotError, UnsupportedPackageError } from './errors.ts';
import type { Violation } from './errors.ts';
import type { SnapshotId } from './ids.ts';
import type { Fingerprint } from './documents.ts';
import { parseStrictJson } from './strict-json.ts';
import { quote } from './text.ts';
import { Violations } from './violations.ts';

const DECLARATION_FIELDS = {
  algorithms: meaning(
    'The current fingerprint algorithms; no pair of name and id twice',
    listOf(
      objectOf('An algorithm', { name: text('Name of the algorithm'), id: text('Full id of the algorithm') }),
    ),
  ),
  contexts: meaning(
    'The current fingerprint contexts',
    listOf(
      objectOf('A context', {
        context_id: text('Id of the context, once each'),
        algorithm_id: text('Id of a declared algorithm'),
        normalization_profile_id: text('Full id of the normalization profile'),
        source_schema_id: text('Id of the source schema'),
        mode: text('Mode of the context'),
      }),
    ),
  ),
};

/** No algorithm or context is declared twice, and every context's algorithm is declared. */
function declarationRules(
  { algorithms, contexts }: ValidFields<ObjectOf<typeof DECLARATION_FIELDS>>,
  _path: string,
  violations: Violations,
): void {
  const pairs = new Set<string>();
  for (const [index, { name, id }] of (algorithms ?? []).entries()) {
    const pair = JSON.stringify([name, id]);
    if (pairs.has(pair)) {
      violations.add(
        `algorithms.${index}`,
        `must differ from the others; found ${quote(id)} twice under one name`,
      );
    }
    pairs.add(pair);
  }

  const algorithmIds = algorithms && new Set(algorithms.map(({ id }) => id));
  const contextIds = new Set<string>();
  for (const [index, context] of (contexts ?? []).entries()) {
    const { context_id: contextId, algorithm_id: algorithmId } = context;
    if (contextIds.has(contextId)) {
      violations.add(
        `contexts.${index}.context_id`,
        `must differ from the others; found ${quote(contextId)} twice`,
      );
    }
    contextIds.add(contextId);
    if (algorithmIds?.has(algorithmId) === false) {
      violations.addFound(
        `contexts.${index}.algorithm_id`,
        'must be the id of one of the declared algorithms',
        algorithmId,
      );
    }
  }
}

export const declarationsDocument = objectOf(
  'The fingerprint algorithms and contexts in force',
  DECLARATION_FIELDS,
  { rules: declarationRules },
);
export type Declarations = Checked<typeof declarationsDocument>;
type DeclaredContext = Declarations['contexts'][number];

/**
 * Reads a declarations file.
 *
 * @throws SnapshotError `malformed_json` if it is not strict JSON
 * @throws ContractViolationError with all violations; paths like `contexts.0.mode`
 */
export function parseDeclarations(bytes: Uint8Array): Declarations {
  const violations = new Violations();
  const declarations = declarationsDocument(parseStrictJson(bytes), '', violations);
  if (declarations === undefined) throw new ContractViolationError(violations.list());
  return declarations;
}

/**
 * For publishing: the context must be declared and all six fields must equal its declaration (PW-07.01).
 *
 * @throws SnapshotError `fingerprint_context_mismatch` with each field that differs, `snapshot.fingerprint.<field>`
 */
export function resolveContext(declarations: Declarations, fingerprint: Fingerprint): void {
  const context = findContext(declarations, fingerprint);
  const errors = context
    ? identityViolations(declarations, context, fingerprint)
    : [undeclaredContext(declarations, fingerprint)];
  if (errors.length === 0) return;
  throw new SnapshotError(
    'fingerprint_context_mismatch',
    context
      ? `The fingerprint does not match the declared context ${quote(fingerprint.context_id)}; see errors and GET /contexts.`
      : `The context ${quote(fingerprint.context_id)} is not declared; GET /contexts (or the declarations file) lists those ` +
          'that are.',
    { errors },
  );
}

/**
 * For reading: the algorithm must be declared and, where the context is declared, the whole identity must match. A
 * context that is not declared (any more) stays explicit and readable (PW-07.05).
 *
 * @throws UnsupportedPackageError naming what is not supported
 */
export function checkDeclared(
  declarations: Declarations,
  fingerprint: Fingerprint,
  snapshotId: SnapshotId,
): void {
  const { algorithm_name: name, algorithm_id: id } = fingerprint;
  const context = findContext(declarations, fingerprint);
  const errors: Violation[] = [];
  if (!declarations.algorithms.some((algorithm) => algorithm.name === name && algorithm.id === id)) {
    errors.push({
      path: 'snapshot.fingerprint.algorithm_id',
      message: `must be a declared algorithm; found ${quote(id)} under the name ${quote(name)}`,
    });
  } else if (context) {
    errors.push(...identityViolations(declarations, context, fingerprint));
  }
  if (errors.length === 0) return;
  throw new UnsupportedPackageError(
    `Snapshot ${snapshotId} has a fingerprint that the declarations do not support; see errors.`,
    { snapshot_id: snapshotId, errors },
  );
}

function findContext(declarations: Declarations, fingerprint: Fingerprint): DeclaredContext | undefined {
  return declarations.contexts.find(({ context_id: contextId }) => contextId === fingerprint.context_id);
}

function undeclaredContext(declarations: Declarations, fingerprint: Fingerprint): Violation {
  const declared = declarations.contexts.slice(0, 10).map(({ context_id: contextId }) => quote(contextId));
  const choices = declared.length === 0 ? 'none is declared' : `for example ${declared.join(', ')}`;
  return {
    path: 'snapshot.fingerprint.context_id',
    message: `must be a declared context, ${choices}; found ${quote(fingerprint.context_id)}`,
  };
}

function identityViolations(
  declarations: Declarations,
  context: DeclaredContext,
  fingerprint: Fingerprint,
): Violation[] {
  const names = declarations.algorithms
    .filter(({ id }) => id === context.algorithm_id)
    .map(({ name }) => name);
  const expected: readonly [keyof Fingerprint, readonly string[]][] = [
    ['algorithm_name', names],
    ['algorithm_id', [context.algorithm_id]],
    ['context_id', [context.context_id]],
    ['normalization_profile_id', [context.normalization_profile_id]],
    ['source_schema_id', [context.source_schema_id]],
    ['mode', [context.mode]],
  ];
  return expected
    .filter(([field, values]) => !values.includes(fingerprint[field]))
    .map(([field, values]) => ({
      path: `snapshot.fingerprint.${field}`,
      message: `must be ${values.map(quote).join(' or ')} as declared; found ${quote(fingerprint[field])}`,
    }));
}
