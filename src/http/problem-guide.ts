/** What every problem code means to the person who meets it: for the pages under /problems and the OpenAPI document. */
import type { ErrorCode, ErrorDetails } from '../contract/errors.ts';
import { REQUEST_PROBLEMS } from './problem-guide-requests.ts';
import { STORE_PROBLEMS } from './problem-guide-store.ts';

export interface ProblemGuide<C extends ErrorCode> {
  /** When the service answers so. */
  readonly when: string;
  /** What its reader does next. */
  readonly remedy: string;
  /** One refusal as it may come. */
  readonly example: { readonly detail: string; readonly details: ErrorDetails<C>; readonly attempt?: string };
}

/** Complete by construction: a new code does not compile until it has its entry. */
export const PROBLEM_GUIDE: { readonly [C in ErrorCode]: ProblemGuide<C> } = {
  ...REQUEST_PROBLEMS,
  ...STORE_PROBLEMS,
};
