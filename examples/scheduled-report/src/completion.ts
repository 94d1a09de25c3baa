export const taskQueue = 'reports'

/** How a report ended: the body of the callback. */
export interface Completion {
  /** The same in every delivery. */
  readonly id: string
  readonly workflowId: string
  /** A status of the program (`ok`, `code_error`, `timed_out` …), `cancelled`, or `failed`. */
  readonly status: string
  /** What the program has printed. */
  readonly output?: string | undefined
  readonly error?: string | undefined
}
