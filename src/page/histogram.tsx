/** How often values occur, drawn from the values themselves. */
import type { JSX } from 'preact';
import { count, counted } from './figures.ts';
import type { Bin } from './profile.ts';

const HEIGHT = 64;
const STEP = 10;

export function Histogram({
  bins,
  what,
  isLogarithmic,
}: {
  readonly bins: readonly Bin[];
  readonly what: string;
  readonly isLogarithmic: boolean;
}): JSX.Element | null {
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return null;
  const most = Math.max(...bins.map((bin) => bin.count));
  const fullest = bins.find((bin) => bin.count === most) ?? first;
  const height = (number: number): number => {
    if (number === 0) return 0;
    const share = isLogarithmic ? Math.log1p(number) / Math.log1p(most) : number / most;
    return Math.max(1.5, share * HEIGHT);
  };
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${bins.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Histogram of ${what}: ${counted(bins.length, 'bin')}, most values (${count(most)}) ${span(fullest)}`}
      >
        {bins.map((bin, at) => (
          <rect x={at * STEP} y={0} width={STEP} height={HEIGHT} class="room">
            <title>{`${span(bin)}: ${counted(bin.count, 'value')}`}</title>
          </rect>
        ))}
        {bins.map((bin, at) => (
          <rect
            x={at * STEP + (bins.length > 1 ? 0.5 : 0)}
            y={HEIGHT - height(bin.count)}
            width={STEP - (bins.length > 1 ? 1 : 0)}
            height={height(bin.count)}
          />
        ))}
      </svg>
      <figcaption>
        <span>{count(first.from)}</span>
        <span>{last.to === first.from ? '' : count(last.to)}</span>
      </figcaption>
    </figure>
  );
}

function span({ from, to }: Bin): string {
  return from === to ? count(from) : `${count(from)} to ${count(to)}`;
}
