/**
 * What several clients of several servers may see of one snapshot id: a register that is written at most once.
 *
 * A history is a list of `{ kind: 'publish' | 'read', id, begin, end, status, digest }`: moments of one clock, `digest`
 * that of the manifest the answer gave or named. Whoever is answered 201 created the snapshot, and there is at most one.
 * A read that begins after anybody was told that the snapshot exists gives it; all ever told of it is one digest.
 */

/** Sentences about what cannot have happened; none for a history that can. */
export function contradictions(history) {
  const found = [];
  const byId = new Map();
  for (const event of history) byId.set(event.id, [...(byId.get(event.id) ?? []), event]);
  for (const [id, events] of byId) {
    const creators = events.filter(({ kind, status }) => kind === 'publish' && status === 201);
    if (creators.length > 1) found.push(`${id} was created ${creators.length} times`);

    const told = events.filter(({ kind, status, digest }) =>
      kind === 'publish' ? status === 201 || (status === 409 && digest !== null) : status === 200,
    );
    const digests = new Set(told.map(({ digest }) => digest));
    if (digests.size > 1) found.push(`${id} had ${digests.size} manifests: ${[...digests].join(', ')}`);

    const known = Math.min(...told.map(({ end }) => end));
    for (const { kind, status, begin } of events) {
      if (kind === 'read' && status !== 200 && begin > known) {
        found.push(`${id} was known at ${known} and a read at ${begin} answers ${status}`);
      }
      if (kind === 'read' && status !== 200 && status !== 404)
        found.push(`a read of ${id} answers ${status}`);
      if (kind === 'publish' && ![201, 409, 0].includes(status))
        found.push(`a publication of ${id} answers ${status}`);
    }
  }
  return found;
}

/** Histories that cannot have happened: a check that accepts one of these is worth nothing. */
export const IMPOSSIBLE = {
  'two creators': [
    { kind: 'publish', id: 'x', begin: 1, end: 4, status: 201, digest: 'a' },
    { kind: 'publish', id: 'x', begin: 2, end: 3, status: 201, digest: 'a' },
  ],
  'a lost snapshot': [
    { kind: 'publish', id: 'x', begin: 1, end: 2, status: 201, digest: 'a' },
    { kind: 'read', id: 'x', begin: 3, end: 4, status: 404, digest: null },
  ],
  'changed bytes': [
    { kind: 'publish', id: 'x', begin: 1, end: 2, status: 201, digest: 'a' },
    { kind: 'read', id: 'x', begin: 3, end: 4, status: 200, digest: 'b' },
  ],
  'seen, then gone': [
    { kind: 'publish', id: 'x', begin: 1, end: 9, status: 201, digest: 'a' },
    { kind: 'read', id: 'x', begin: 2, end: 3, status: 200, digest: 'a' },
    { kind: 'read', id: 'x', begin: 4, end: 5, status: 404, digest: null },
  ],
  'a loser who is told of other bytes': [
    { kind: 'publish', id: 'x', begin: 1, end: 4, status: 201, digest: 'a' },
    { kind: 'publish', id: 'x', begin: 2, end: 5, status: 409, digest: 'b' },
  ],
  'a read that cannot be proven': [{ kind: 'read', id: 'x', begin: 1, end: 2, status: 500, digest: null }],
};

/** Overlaps that may well have happened: a check that refuses this cries wolf. */
export const POSSIBLE = [
  { kind: 'publish', id: 'x', begin: 1, end: 8, status: 201, digest: 'a' },
  { kind: 'publish', id: 'x', begin: 2, end: 9, status: 409, digest: 'a' },
  { kind: 'publish', id: 'x', begin: 2, end: 3, status: 409, digest: null },
  { kind: 'publish', id: 'x', begin: 2, end: 3, status: 0, digest: null },
  { kind: 'read', id: 'x', begin: 3, end: 5, status: 404, digest: null },
  { kind: 'read', id: 'x', begin: 4, end: 5, status: 200, digest: 'a' },
  { kind: 'read', id: 'y', begin: 9, end: 10, status: 404, digest: null },
];
