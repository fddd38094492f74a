/** The page of the service: looks at the store, and publishes by hand. */
import { render, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { keepToken, token } from './service.ts';
import { links, route, type Route } from './route.ts';
import { CompareView } from './compare-view.tsx';
import { IncompleteView } from './incomplete-view.tsx';
import { LineageView } from './lineage-view.tsx';
import { PublishView } from './publish-view.tsx';
import { SnapshotView } from './snapshot-view.tsx';
import { StoreView } from './store-view.tsx';

const NAVIGATION = [
  ['Store', links.store(), ['store', 'snapshot', 'lineage', 'compare']],
  ['Incomplete', links.incomplete(), ['incomplete']],
  ['Publish', links.publish(), ['publish']],
] as const satisfies readonly (readonly [string, string, readonly Route['view'][]])[];

function Page(): JSX.Element {
  const at = route.value;
  const main = useRef<HTMLElement>(null);
  const place = placeOf(at);
  const before = useRef(place);
  useEffect(() => {
    document.title = `${TITLES[at.view]} · PipeWhy snapshots`;
    // Another view begins at its heading, for the eyes and for a screen reader.
    if (before.current === place) return;
    before.current = place;
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [place]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={links.store()}>
          PipeWhy <span>snapshots</span>
        </a>
        <nav aria-label="Views">
          {NAVIGATION.map(([name, href, views]) => (
            <a href={href} aria-current={(views as readonly string[]).includes(at.view) ? 'page' : undefined}>
              {name}
            </a>
          ))}
          <a href="docs">API</a>
        </nav>
        {token.value !== null && (
          <button type="button" class="link" onClick={() => keepToken(null)}>
            Forget the token
          </button>
        )}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View at={at} />
      </main>
    </>
  );
}

const TITLES: Readonly<Record<Route['view'], string>> = {
  store: 'Store',
  snapshot: 'Snapshot',
  lineage: 'Lineage',
  compare: 'Difference',
  incomplete: 'Incomplete attempts',
  publish: 'Publish',
  nowhere: 'Nothing here',
};

/** What is another place to somebody who looks: not every search is. */
function placeOf(at: Route): string {
  return at.view === 'store' ? at.view : JSON.stringify(at);
}

function View({ at }: { readonly at: Route }): JSX.Element {
  switch (at.view) {
    case 'store':
      return <StoreView search={at.search} />;
    case 'snapshot':
      return <SnapshotView id={at.id} />;
    case 'lineage':
      return <LineageView id={at.id} />;
    case 'compare':
      return <CompareView from={at.from} to={at.to} by={at.by} />;
    case 'incomplete':
      return <IncompleteView />;
    case 'publish':
      return <PublishView parent={at.parent} />;
    case 'nowhere':
      return (
        <section class="panel empty">
          <h1 tabIndex={-1}>Nothing is at this address</h1>
          <p>
            It does not name a view or a snapshot. <a href={links.store()}>Go to the store</a>.
          </p>
        </section>
      );
  }
}

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
