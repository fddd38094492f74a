/** Loading for a view: aborted with it, begun again for another key, another token or by hand. */
import { useEffect, useState } from 'preact/hooks';
import { token } from './service.ts';

export interface Loaded<T> {
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly again: () => void;
}

/** What was loaded stays in sight while it is loaded again, but not for another key. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ key: string; data: T | null; error: unknown; isLoading: boolean }>({
    key,
    data: null,
    error: null,
    isLoading: true,
  });
  const bearer = token.value;
  useEffect(() => {
    const aborter = new AbortController();
    setState((before) => ({
      key,
      data: before.key === key ? before.data : null,
      error: null,
      isLoading: true,
    }));
    load(aborter.signal).then(
      (data) => {
        if (!aborter.signal.aborted) setState({ key, data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (!aborter.signal.aborted) setState({ key, data: null, error, isLoading: false });
      },
    );
    return () => {
      aborter.abort();
    };
  }, [key, turn, bearer]);
  const again = (): void => {
    setTurn((before) => before + 1);
  };
  // Of the key before: nothing of it may be shown under this one.
  if (state.key !== key) return { data: null, error: null, isLoading: true, again };
  return { ...state, again };
}
