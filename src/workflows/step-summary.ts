import type { AdvanceAnswer, Step } from '../common/steps.js'
import { plural } from '../common/text.js'

/** What a step does, for people who read the history. */
export function summaryOf({ input }: Step): string {
  if (input.type === 'cell') return `run cell ${input.cell}`
  if (input.type === 'stop') return 'stop the cell'
  return input.results.length === 0 ? 'go on: a timer is due' : `go on with ${plural(input.results.length, 'result')}`
}

/** It was an earlier cell that was not repeated, on the way to this one. */
export function notBegun(answer: Extract<AdvanceAnswer, { type: 'diverged' }>): AdvanceAnswer & { type: 'diverged' } {
  return { ...answer, reason: `${answer.reason}; nothing of the code of this cell was run` }
}
