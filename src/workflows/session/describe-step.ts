import type { Step } from '../../common/session/steps.js'
import { pluralize } from '../../common/text/text.js'

/** Returns the summary of the activity of a step. */
export function describeStep({ input }: Step): string {
  if (input.type === 'cell') return `run cell ${input.cell}`
  if (input.type === 'stop') return 'stop the cell'
  return input.results.length === 0
    ? 'continue: a timer is due'
    : `continue with ${pluralize(input.results.length, 'result')}`
}
