import type { TextParts } from '../../common/messages.js'
import type { CellEnd } from './cell-end.js'
import type { CellRun } from './run-cell.js'

const variablesRolledBack = 'Variables of this cell are gone; those of earlier cells are there.'

/** What the model reads of a cell: what it printed, then what went wrong. */
export function toToolResultText({ end, output }: CellRun): {
  readonly text: string | TextParts
  readonly isError: boolean
} {
  const isError = end.status !== 'ok'
  const after = describeFailure(end).filter((part) => part !== '')
  if (typeof output !== 'string') return { text: { ...output, suffix: after.join('\n') }, isError }
  const parts = [output.trimEnd(), ...after].filter((part) => part !== '')
  if (!isError && parts.length === 0) parts.push('(no output: print what you need to see)')
  return { text: parts.join('\n'), isError }
}

function describeFailure(outcome: CellEnd): string[] {
  switch (outcome.status) {
    case 'ok':
      return []
    case 'code_error':
      return [outcome.error]
    case 'timed_out':
    case 'limit_exceeded':
    case 'stopped':
      return [`[${outcome.status}] ${outcome.error}`, outcome.sessionKept ? '' : variablesRolledBack]
    case 'diverged':
      return [
        `[diverged] The sandbox was lost, and its code, run again to get the variables back, did not repeat its tool calls: ${outcome.error}.`,
        'All variables are gone, those of earlier cells too; the calls that were made have happened. Start over from what you know, and look before you make a call again. What differs from run to run (child processes, threads, file times, id()) must not decide what is called.',
      ]
    case 'lost':
      return [`[lost] ${outcome.error}`, `The code ends its own sandbox, or cannot run here. ${variablesRolledBack}`]
  }
}
