import type { CallStatus, CellOutcome, CellStatus } from '../../common/outcomes.js'
import type { CellDraft } from './draft.js'
import type { AdvanceResult, DeliveredOutcome } from './payload-shapes.js'

/** What a step's answer says of the cell it belongs to. */
export function endCell(cell: CellDraft, answer: AdvanceResult, at: number): void {
  if ('output' in answer) cell.output.push(answer.output)
  switch (answer.type) {
    case 'suspended':
    case 'repeated':
    case 'unrestored':
      return
    case 'completed':
      return close(cell, 'ok', undefined, at)
    case 'failed':
      return close(cell, answer.kind, answer.error, at)
    case 'diverged':
      return close(cell, 'diverged', answer.reason, at)
    case 'lost':
      if (answer.cause === 'killed_at_limit') return close(cell, 'timed_out', answer.reason, at)
      if (answer.cause === 'out_of_memory') return close(cell, 'limit_exceeded', answer.reason, at)
      // A sandbox that is gone is rebuilt; one that broke the protocol is not.
      if (answer.cause !== 'gone') return close(cell, 'lost', answer.reason, at)
      cell.lostBecause = answer.reason
  }
}

/** A cell that its own steps left open has ended all the same, once the run has gone on to something else. */
export function settleCell(cell: CellDraft, told: string | undefined, at: number): void {
  const seemsLost = cell.status === 'lost' && told !== undefined
  if (cell.status !== 'running' && !seemsLost) return
  const [, word = '', error] = problem.exec(told ?? '') ?? []
  const status = (['timed_out', 'limit_exceeded', 'stopped', 'diverged', 'lost'] as const).find((each) => each === word)
  close(cell, status ?? 'lost', error ?? cell.lostBecause, cell.endedAt ?? at)
}

/** What a run says of its only cell is the last word. */
export function settleByOutcome(cell: CellDraft, outcome: CellOutcome, at: number): void {
  cell.reported = outcome.output
  close(cell, outcome.status, outcome.status === 'ok' ? undefined : outcome.error, cell.endedAt ?? at)
}

/** How a direct call ended, from what the model was told of it. */
export function toldOf(text: string | undefined): DeliveredOutcome | undefined {
  if (text === undefined) return undefined
  const [, word = '', message] = problem.exec(text) ?? []
  const status = callProblems.find((each) => each === word)
  return status ? { status, message } : { status: 'tool_error', message: text }
}

/** `[status] message`, as the workflow writes it. */
const problem = /^\[(\w+)\] (.*)$/m

const callProblems: readonly Exclude<CallStatus, 'ok'>[] = [
  'tool_error',
  'invalid_arguments',
  'denied',
  'timed_out',
  'outcome_unknown',
  'cancelled',
]

function close(cell: CellDraft, status: CellStatus, error: string | undefined, at: number): void {
  cell.status = status
  cell.error = error
  cell.endedAt = at
}
