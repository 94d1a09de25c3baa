/* Summaries of the activities of a session, for the Temporal UI. */

import type { SessionRef } from '../../common/session/session.js'
import type { Step } from '../../common/session/steps.js'
import { pluralize, toTemporalSummary } from '../../common/text/text.js'

/** @param first the first step, which the activity may execute as well */
export function describeOpen({ epoch, backend }: SessionRef, isParked: boolean, first: Step | undefined): string {
  if (epoch > 1) return `${isParked ? 'resume' : 'rebuild'} the session (${epoch})`
  const opening = backend === 'auto' ? 'open a session' : `open a session (${backend})`
  return first ? `${opening}, ${describeStep(first)}` : opening
}

export function describeStep({ input }: Step): string {
  if (input.type === 'cell')
    return `run cell ${input.cell}${input.language === undefined ? '' : ` in ${input.language}`}`
  if (input.type === 'stop') return 'stop the cell'
  if (input.type === 'file')
    return toTemporalSummary(`write ${input.path}${input.offset > 0 ? ', a further part' : ''}`)
  return input.results.length === 0
    ? 'continue: a timer is due'
    : `continue with ${pluralize(input.results.length, 'result')}`
}
