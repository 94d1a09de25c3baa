import { type CallStatus, type CellOutcome, type CellStatus, measuresOf } from '../../../common/calls/outcomes.js'
import { defined } from '../../../common/defined.js'
import type { CellDraft } from './draft.js'
import type { StepResult, DeliveredOutcome } from '../history/payload-schemas.js'

/** Applies the result of a step to its cell. */
export function applyStepResult(cell: CellDraft, result: StepResult, at: number): void {
  if ('output' in result) cell.output.push({ text: result.output, ...defined({ stderr: result.stderr }) })
  if (result.type === 'completed' || result.type === 'failed') cell.measures = measuresOf(result)
  switch (result.type) {
    case 'suspended':
    case 'rebuilt':
    case 'restore_failed':
      return
    case 'completed':
      return endCell(cell, 'ok', undefined, at)
    case 'failed':
      return endCell(cell, result.kind, result.error, at)
    case 'diverged':
      return endCell(cell, 'diverged', result.reason, at)
    case 'lost':
      if (result.cause === 'killed_at_limit') return endCell(cell, 'timed_out', result.reason, at)
      if (result.cause === 'out_of_memory') return endCell(cell, 'limit_exceeded', result.reason, at)
      // A sandbox that no longer exists is rebuilt; a sandbox that broke the protocol is not.
      if (result.cause !== 'gone' && result.cause !== 'exited') return endCell(cell, 'lost', result.reason, at)
      cell.lossReason = result.reason
  }
}

/** Ends a cell when none of its steps reported its end, and the run has continued with other work. */
export function closeOpenCell(cell: CellDraft, toolResult: string | undefined, at: number): void {
  const isLossUnconfirmed = cell.status === 'lost' && toolResult !== undefined
  if (cell.status !== 'running' && !isLossUnconfirmed) return
  const [, statusWord = '', error] = statusLine.exec(toolResult ?? '') ?? []
  const status = (['timed_out', 'limit_exceeded', 'stopped', 'diverged', 'lost'] as const).find(
    (each) => each === statusWord,
  )
  endCell(cell, status ?? 'lost', error ?? cell.lossReason, cell.endedAt ?? at)
}

/** Applies the outcome in the run's result, which takes precedence. */
export function applyProgramOutcome(cell: CellDraft, outcome: CellOutcome, at: number): void {
  cell.reported = { text: outcome.output, ...defined({ stderr: outcome.stderr }) }
  endCell(cell, outcome.status, outcome.status === 'ok' ? undefined : outcome.error, cell.endedAt ?? at)
}

/** Reads the outcome of a direct call from its tool result. */
export function parseToolResult(text: string | undefined): DeliveredOutcome | undefined {
  if (text === undefined) return undefined
  const [, statusWord = '', message] = statusLine.exec(text) ?? []
  const status = failedCallStatuses.find((each) => each === statusWord)
  return status ? { status, message } : { status: 'tool_error', message: text }
}

/** Matches `[status] message`, the format in which the workflow writes an outcome for the model. */
const statusLine = /^\[(\w+)\] (.*)$/m

const failedCallStatuses: readonly Exclude<CallStatus, 'ok'>[] = [
  'tool_error',
  'invalid_arguments',
  'denied',
  'timed_out',
  'outcome_unknown',
  'cancelled',
]

export function endCell(cell: CellDraft, status: CellStatus, error: string | undefined, at: number): void {
  cell.status = status
  cell.error = error
  cell.endedAt = at
}
