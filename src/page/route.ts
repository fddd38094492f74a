/** Addresses within the page: all behind `#`, so that every view survives a reload under any base path. */
import { signal } from '@preact/signals';
import { isSnapshotId } from '../contract/ids.ts';

export type Route =
  | { readonly view: 'store'; readonly search: Search }
  | { readonly view: 'snapshot' | 'lineage'; readonly id: string }
  | { readonly view: 'compare'; readonly from: string; readonly to: string; readonly by: string | null }
  | { readonly view: 'incomplete' }
  | { readonly view: 'publish'; readonly parent: string | null }
  | { readonly view: 'nowhere' };

/** What the store is searched for; empty strings for whatever is not asked. */
export interface Search {
  /** In the beginning of the id, or anywhere in namespace, version or scope. */
  readonly text: string;
  /** Exactly this one. */
  readonly namespace: string;
  readonly status: string;
  readonly resolution: string;
  /** Local days, `2026-11-01`, both included. */
  readonly from: string;
  readonly until: string;
}

export const NO_SEARCH: Search = { text: '', namespace: '', status: '', resolution: '', from: '', until: '' };

function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/u, '').split(/\?(.*)/su);
  const parameters = new URLSearchParams(query);
  const [first = '', id = '', verb = '', other = ''] = path.replace(/^\//u, '').split('/');
  if (first === '') {
    const search = Object.fromEntries(
      Object.keys(NO_SEARCH).map((name) => [name, parameters.get(name) ?? '']),
    );
    return { view: 'store', search: search as unknown as Search };
  }
  if (first === 'incomplete') return { view: 'incomplete' };
  if (first === 'publish') return { view: 'publish', parent: parameters.get('parent') };
  if (first !== 'snapshots' || !isSnapshotId(id)) return { view: 'nowhere' };
  if (verb === '') return { view: 'snapshot', id };
  if (verb === 'lineage') return { view: 'lineage', id };
  if (verb === 'compare' && isSnapshotId(other)) {
    return { view: 'compare', from: id, to: other, by: parameters.get('key') };
  }
  return { view: 'nowhere' };
}

export const route = signal<Route>(routeOf(location.hash));

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

function withQuery(path: string, query: Readonly<Record<string, string | null>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== '') parameters.set(name, value);
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

export const links = {
  store: (search: Partial<Search> = {}) => withQuery('#/', search),
  snapshot: (id: string) => `#/snapshots/${id}`,
  lineage: (id: string) => `#/snapshots/${id}/lineage`,
  compare: (from: string, to: string, by: string | null = null) =>
    withQuery(`#/snapshots/${from}/compare/${to}`, { key: by }),
  incomplete: () => '#/incomplete',
  publish: (parent: string | null = null) => withQuery('#/publish', { parent }),
};

/** Goes there; `replace` leaves no step to go back to. */
export function go(hash: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', hash);
  else location.hash = hash;
  // At once, and not when the browser tells: until then, what waits for its time would still be meant for the view before.
  route.value = routeOf(hash);
}
