import type { ExecuteStepResult, Step } from '../../common/steps.js'
import type { SessionRef } from '../../common/session.js'
import { pluralize } from '../../common/text.js'

/** What a step does, for people who read the history. */
export function describeStep({ input }: Step): string {
  if (input.type === 'cell') return `run cell ${input.cell}`
  if (input.type === 'stop') return 'stop the cell'
  return input.results.length === 0
    ? 'go on: a timer is due'
    : `go on with ${pluralize(input.results.length, 'result')}`
}

/** It was an earlier cell that was not repeated, on the way to this one. */
export function withoutCodeRun(
  answer: Extract<ExecuteStepResult, { type: 'diverged' }>,
): ExecuteStepResult & { type: 'diverged' } {
  return { ...answer, reason: `${answer.reason}; nothing of the code of this cell was run` }
}

/** What opening a sandbox is for. */
export function describeOpen({ epoch, backend }: SessionRef, isParked: boolean): string {
  if (epoch === 1) return backend === 'auto' ? 'open a session' : `open a session (${backend})`
  return `${isParked ? 'wake' : 'rebuild'} the session (${epoch})`
}
