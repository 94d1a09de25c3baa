import type { CellOutcome } from '../../common/calls/outcomes.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { fileInfo } from '../../common/files/files.js'
import type { SessionExecution } from '../../client/sessions/execute.js'
import { printArtifacts } from '../files/print-artifacts.js'
import { cellReport } from '../run/run-report.js'
import { printProgramOutcome } from '../run/print-run-ending.js'
import { print, printStatus } from '../process/stdio.js'

/** Prints the outcome of code that was executed on a session; returns the exit code. */
export function printExecution(execution: SessionExecution, json: boolean, durationMs: number): number {
  if (json) {
    print(JSON.stringify(executionReport(execution, durationMs)))
  } else if (execution.isNew) {
    printStatus(newSessionNotice(execution))
  }
  const exitCode = printProgramOutcome(execution, json)
  if (!json) printArtifacts(execution.outcome.files, execution.workflowId)
  const loss = lostVariablesNotice(execution.outcome)
  if (loss !== undefined) printStatus(`ptc: ${loss}`)
  return exitCode
}

/** The object that `--json` prints for code that could not be executed. */
export function executionFailureReport(session: string, thrown: unknown): object {
  const code = PtcError.isInstance(thrown) ? thrown.code : 'INTERNAL'
  return { session, status: 'failed', answer: '', error: { code, message: messageOf(thrown) } }
}

function executionReport(
  { session, workflowId, runId, isNew, previous, cell, outcome, toolCalls }: SessionExecution,
  durationMs: number,
) {
  return {
    session,
    workflowId,
    runId,
    isNew,
    previous: previous ?? null,
    cell,
    status: outcome.status,
    answer: outcome.output,
    ...cellReport(outcome),
    ...(outcome.files && { files: outcome.files.map(fileInfo) }),
    toolCalls,
    durationMs,
    ...(outcome.status === 'ok' ? {} : { error: { code: outcome.status, message: outcome.error } }),
  }
}

/** Tells a user who expects variables of an earlier session that this one is new. */
function newSessionNotice({ session, previous }: SessionExecution): string {
  if (previous === undefined) return `new session ${session}`
  const what = previous === 'idle' ? 'has expired' : `has ended (${previous.replaceAll('_', ' ')})`
  return `session ${session} ${what}: a new one begins, without its variables`
}

function lostVariablesNotice(outcome: CellOutcome): string | undefined {
  if (outcome.status === 'diverged') return 'all variables of the session were lost'
  const isLost = outcome.status === 'lost' || ('sessionKept' in outcome && !outcome.sessionKept)
  return isLost ? 'variables set by this code were lost; earlier ones are kept' : undefined
}
