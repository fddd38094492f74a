/** The rename decides between processes over one root: one creator per id, losers stay visible, bytes never change. */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { ask, jsonOf, problemOf } from '../support/http.ts';
import { startServer } from '../support/service.ts';
import { attemptsOf, idOf, packagePath, pattern, temporaryRoot, treeOf } from '../support/stores.ts';
import { publish } from '../support/uploads.ts';

test('eight publications of one id through two processes yield one 201; losers that staged are in /incomplete', async () => {
  const root = temporaryRoot();
  const servers = await Promise.all([startServer(root), startServer(root)]);
  let staged = 0;
  for (let round = 0; round < 6; round += 1) {
    const id = idOf(round + 1);
    const payload = (writer: number): Uint8Array => pattern(400_000, round * 8 + writer + 1);
    const writers = [0, 1, 2, 3, 4, 5, 6, 7];
    const answers = await Promise.all(
      writers.map((writer) =>
        publish(servers[writer % 2]!.url, id, { values: { dtype: 'uint8', bytes: payload(writer) } }),
      ),
    );
    const winners = writers.filter((writer) => answers[writer]!.status === 201);
    expect(winners).toHaveLength(1);
    const winner = winners[0]!;
    const before = treeOf(packagePath(root, id));
    const { incomplete } = jsonOf(await ask(servers[0].url, '/incomplete'));
    for (const writer of writers.filter((one) => one !== winner)) {
      const { code } = jsonOf(answers[writer]!);
      const problem = problemOf(answers[writer]!, code);
      expect(['snapshot_exists', 'publication_in_progress']).toContain(code);
      if (problem.attempt === undefined) continue;
      staged += 1;
      // The whole package of the loser, complete, and published by nobody.
      expect(code).toBe('snapshot_exists');
      expect(incomplete).toContainEqual(
        expect.objectContaining({ path: problem.attempt, snapshot_id: id, phase: 'VALIDATED' }),
      );
      const kept = fs.readFileSync(join(root, problem.attempt, 'array-values.bin'));
      expect(kept.equals(payload(writer))).toBe(true);
    }
    for (const { url } of servers) {
      const answer = await ask(url, `/snapshots/${id}/array-values.bin`);
      expect(answer.body.equals(payload(winner))).toBe(true);
      problemOf(await publish(url, id, { values: { dtype: 'uint8', bytes: payload(9) } }), 'snapshot_exists');
    }
    expect(treeOf(packagePath(root, id))).toEqual(before);
  }
  expect(attemptsOf(root)).toHaveLength(staged);
  for (const { url } of servers) expect(jsonOf(await ask(url, '/snapshots')).snapshots).toHaveLength(6);
});
