import type { Step } from '../common/steps.js'
import { plural } from '../common/text.js'

/** What a step does, for people who read the history. */
export function summaryOf({ input }: Step): string {
  if (input.type === 'cell') return `run cell ${input.cell}`
  if (input.type === 'stop') return 'stop the cell'
  return input.results.length === 0 ? 'go on: a timer is due' : `go on with ${plural(input.results.length, 'result')}`
}
