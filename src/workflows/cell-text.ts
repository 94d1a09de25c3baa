import type { CellOutcome } from '../common/outcomes.js'

const variablesBack = 'Variables of this cell are gone; those of earlier cells are there.'

/** What the model reads of a cell: what it printed, then what went wrong. */
export function cellText(outcome: CellOutcome): { readonly text: string; readonly isError: boolean } {
  const parts = [outcome.output.trimEnd(), ...problem(outcome)].filter((part) => part !== '')
  if (outcome.status === 'ok' && parts.length === 0) parts.push('(no output: print what you need to see)')
  return { text: parts.join('\n'), isError: outcome.status !== 'ok' }
}

function problem(outcome: CellOutcome): string[] {
  switch (outcome.status) {
    case 'ok':
      return []
    case 'code_error':
      return [outcome.error]
    case 'timed_out':
    case 'limit_exceeded':
    case 'stopped':
      return [`[${outcome.status}] ${outcome.error}`, outcome.sessionKept ? '' : variablesBack]
    case 'diverged':
      return [
        `[diverged] The sandbox was lost, and run again the code did not repeat its tool calls: ${outcome.error}`,
        'Calls that were made stay made. All variables are gone: start over from what you know.',
      ]
    case 'lost':
      return [`[lost] ${outcome.error}`, `The code ends its own sandbox, or cannot run here. ${variablesBack}`]
  }
}
