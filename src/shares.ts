/** What holds for the whole service, divided among the processes that serve it. */

/** The share of one process; at least one, or nothing of nothing. */
export function shareOf(total: number, processes: number): number {
  return total === 0 ? 0 : Math.max(1, Math.floor(total / processes));
}
