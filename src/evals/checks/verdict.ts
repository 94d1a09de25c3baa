/** The outcome of one condition. `judge_failed`: a judge gave no readable verdict, which says nothing about the answer. */
export type Verdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'judge_failed'; readonly reason: string }
  /** The condition could not be checked: a module threw, or the sandbox was not available. */
  | { readonly type: 'error'; readonly reason: string }

export const passed: Verdict = { type: 'passed' }

export function failed(reason: string): Verdict {
  return { type: 'failed', reason }
}
