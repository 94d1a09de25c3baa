import type { CellOutcome } from '../../common/outcomes.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { SessionExecution } from '../sessions/execute.js'
import { showProgram } from './show-ending.js'
import { print, say } from './terminal.js'

/** Shows what came of code that was executed on a session, and gives the exit code. */
export function showExecution(executed: SessionExecution, json: boolean, durationMs: number): number {
  if (json) {
    print(JSON.stringify(report(executed, durationMs)))
  } else if (executed.isNew) {
    say(beginning(executed))
  }
  const exitCode = showProgram(executed, json)
  const loss = lossOf(executed.outcome)
  if (loss !== undefined) say(`ptc: ${loss}`)
  return exitCode
}

/** What `--json` prints for code that could not be executed. */
export function executionFailure(session: string, thrown: unknown): object {
  const code = PtcError.isInstance(thrown) ? thrown.code : 'INTERNAL'
  return { session, status: 'failed', answer: '', error: { code, message: messageOf(thrown) } }
}

function report(
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
    toolCalls,
    durationMs,
    ...(outcome.status === 'ok' ? {} : { error: { code: outcome.status, message: outcome.error } }),
  }
}

/** Never silently without variables: who expects some is told that there are none. */
function beginning({ session, previous }: SessionExecution): string {
  if (previous === undefined) return `new session ${session}`
  const what = previous === 'idle' ? 'has expired' : `has ended (${previous.replaceAll('_', ' ')})`
  return `session ${session} ${what}: a new one begins, without its variables`
}

function lossOf(outcome: CellOutcome): string | undefined {
  switch (outcome.status) {
    case 'ok':
    case 'code_error':
      return undefined
    case 'timed_out':
    case 'limit_exceeded':
    case 'stopped':
      return outcome.sessionKept ? undefined : cellLost
    case 'lost':
      return cellLost
    case 'diverged':
      return 'all variables of the session are gone'
  }
}

const cellLost = 'variables of this code are gone; the earlier ones are there'
