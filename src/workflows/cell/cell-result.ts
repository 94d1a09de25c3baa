import type { TextParts } from '../../common/agent/messages.js'
import { type CellEnd, type CellOutcome, measuresOf } from '../../common/calls/outcomes.js'
import type { KeptFiles } from '../../common/files/files.js'
import type { LostCause, StepOutcome } from '../../common/session/steps.js'
import type { TextRange } from '../../common/text/text-ranges.js'
import { describeKept } from '../files/run-files.js'
import type { Run } from '../run/run.js'
import { payloadBytes } from '../run/stored-bytes.js'
import { joinText } from '../temporal/activities.js'
import type { PendingCalls } from './pending-calls.js'

export interface CellRun {
  readonly end: CellEnd
  readonly output: string | TextParts
  /** Returns the parts of the output that were printed to stderr. Absent: none. */
  readonly stderrOf?: (shownLength: number) => readonly TextRange[]
  /** The artifacts of the cell, and the uploads that could not be written before it. Absent: none. */
  readonly kept?: KeptFiles
}

/** Whether a cell gives its reader any text of its code. */
export function hasText({ end, output, kept }: CellRun): boolean {
  return end.status !== 'ok' || output !== '' || kept !== undefined
}

/** Returns how the last result of a cell's steps ends the cell. Also drops the calls that the program has dropped. */
export function cellEndOf(result: Exclude<StepOutcome, { type: 'suspended' }>, pendingCalls: PendingCalls): CellEnd {
  switch (result.type) {
    case 'completed':
      return { status: 'ok', ...measuresOf(result) }
    case 'failed':
      if (result.kind === 'code_error') return { status: 'code_error', error: result.error, ...measuresOf(result) }
      pendingCalls.cancelAll() // the runner has dropped its calls
      return { status: result.kind, error: result.error, sessionKept: true, ...measuresOf(result) }
    case 'lost':
      pendingCalls.dropCell()
      return lostEnd(result.cause, result.reason)
    case 'diverged':
      pendingCalls.clear()
      return { status: 'diverged', error: result.reason }
  }
}

function lostEnd(cause: LostCause, reason: string): CellEnd {
  switch (cause) {
    case 'killed_at_limit':
      return { status: 'timed_out', error: `${reason}. Do less in one cell.`, sessionKept: false }
    case 'out_of_memory':
      return { status: 'limit_exceeded', error: `${reason}. Hold less of it at a time.`, sessionKept: false }
    case 'interrupted':
      return { status: 'stopped', error: reason, sessionKept: false }
    case 'gone':
    case 'exited':
    case 'protocol':
      return { status: 'lost', error: reason }
  }
}

export function tooManyCalls(limit: number): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `more than ${limit} tool calls in one cell. Make the rest in the next cell.`,
    sessionKept: false,
  }
}

export function storageExceeded(limit: number, sessionKept: boolean): CellEnd {
  return {
    status: 'limit_exceeded',
    error:
      `arguments, results and output of this session have used up their ${limit} bytes. ` +
      'It runs no more code and calls no more tools.',
    sessionKept,
  }
}

export function sourceTooLarge(bytes: number, limit: number): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `the code has ${bytes} bytes, the limit is ${limit}. Send it in parts.`,
    sessionKept: true,
  }
}

export const interruptedMessage = 'Interrupted: the code was stopped while it waited'

export const interruptedBeforeStart: CellEnd = {
  status: 'stopped',
  error: 'Interrupted: the code was stopped before it started',
  sessionKept: true,
}

export function totalTimeExceeded(seconds: number): string {
  return `the code was stopped: a cell may take ${seconds} seconds, waiting included. Wait for less at a time.`
}

export function tooManyWakes(wakes: number): string {
  return `the code was stopped: it was woken ${wakes} times with nothing new. Sleep longer at a time.`
}

/** Returns the outcome of a cell with its whole output, for the result of a program or of an execution. */
export async function toCellOutcome({ end, output, stderrOf, kept }: CellRun, run: Run): Promise<CellOutcome> {
  const text = typeof output === 'string' ? output : await joinText(output, run.config.timeouts)
  // Large output is stored twice: as the result of the activity, and as part of the result of the program or execution.
  if (typeof output !== 'string') run.addStoredBytes(2 * payloadBytes(text))
  const stderr = stderrOf?.(text.length) ?? []
  return { ...end, output: text, ...(stderr.length > 0 && { stderr }), ...filesOf(kept) }
}

function filesOf({ files, lost }: KeptFiles = { files: [], lost: [] }): Pick<CellOutcome, 'files' | 'lostFiles'> {
  return { ...(files.length > 0 && { files }), ...(lost.length > 0 && { lostFiles: lost }) }
}

const variablesRolledBack = 'Variables of this cell are gone; those of earlier cells are there.'

/** The result of a cell for the model. */
export interface CellText {
  readonly text: string | TextParts
  readonly isError: boolean
}

/** Returns the result of a cell for the model: the output, then the failure. External output is joined later. */
export function toToolResultText({ end, output, kept }: CellRun): CellText {
  const isError = end.status !== 'ok'
  const notes = [...describeFailure(end).filter((line) => line !== ''), ...(kept ? describeKept(kept) : [])]
  if (typeof output !== 'string') return { text: { ...output, suffix: notes.join('\n') }, isError }
  const lines = [output.trimEnd(), ...notes].filter((line) => line !== '')
  if (!isError && lines.length === 0) lines.push('(no output: print what you need to see)')
  return { text: lines.join('\n'), isError }
}

/** Returns the result of a command for the model: the output, then the exit code and the duration. */
export function toCommandResult({ end, ...cell }: CellRun): CellText {
  const { status, usage } = end
  if ((status !== 'ok' && status !== 'code_error') || usage === undefined) return toToolResultText({ end, ...cell })
  const exit = status === 'ok' ? 'exit code 0' : end.error
  const result = { status: 'code_error', error: `[${exit}, ${(usage.runMs / 1_000).toFixed(1)} s]` } as const
  return { ...toToolResultText({ ...cell, end: result }), isError: status !== 'ok' }
}

function describeFailure(end: CellEnd): string[] {
  switch (end.status) {
    case 'ok':
      return []
    case 'code_error':
      return [end.error]
    case 'timed_out':
    case 'limit_exceeded':
    case 'stopped':
      return [`[${end.status}] ${end.error}`, end.sessionKept ? '' : variablesRolledBack]
    case 'diverged':
      return [
        '[diverged] The sandbox was lost. Its code was run again to restore the variables, but did not repeat its tool ' +
          `calls: ${end.error}.`,
        'All variables are gone, those of earlier cells too. The tool calls that were made have happened. Start over ' +
          'from what you know, and check before you repeat a call. Nothing that differs from run to run (child ' +
          'processes, threads, file times, id()) may decide which calls your code makes.',
      ]
    case 'lost':
      return [`[lost] ${end.error}`, `The code ends its own sandbox, or cannot run here. ${variablesRolledBack}`]
  }
}
