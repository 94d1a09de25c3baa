import { programRoles } from '../../common/names.js'
import { PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/plan.js'
import { sessionWorkflowId } from '../sessions/name.js'
import type { SessionExecution } from '../sessions/execute.js'
import { checkStart } from '../start-options.js'
import { aborted, catchInterrupts, Interrupted, type Interrupts, unlessAborted } from './interrupts.js'
import { openPlace, type Place } from './place.js'
import { readText } from './read-text.js'
import { executionFailure, showExecution } from './show-execution.js'
import { print } from './terminal.js'

export interface OnSession {
  readonly session: string
  readonly config: string | undefined
  readonly sandbox: BackendChoice | undefined
  readonly mustExist: boolean
}

/** Executes a file on a session, shows what came of it, and sets the exit code. */
export async function execOnSession(script: string, options: OnSession & { readonly json: boolean }): Promise<void> {
  using interrupts = catchInterrupts()
  const { session, config, sandbox, json } = options
  try {
    sessionWorkflowId(session)
    const source = await unlessAborted(interrupts.first, readText(script))
    checkStart('program', source, {})
    await using place = await openPlace({ config, sandbox, otherwise: 'work', interrupts })
    await place.requireWorkers(programRoles)
    const started = Date.now()
    const executed = await execute(place, interrupts, source, options)
    process.exitCode = showExecution(executed, json, Date.now() - started)
  } catch (thrown) {
    if (json) print(JSON.stringify(executionFailure(session, thrown)))
    throw thrown
  }
}

/**
 * Executes code on a session and waits for its end.
 *
 * @throws Interrupted when the user does not want to wait; PtcError when server or worker are lost, and what executing throws
 */
export async function execute(
  { ptc, lost, isOurs }: Place,
  { first }: Pick<Interrupts, 'first'>,
  source: string,
  { session, sandbox, mustExist }: Omit<OnSession, 'config'>,
): Promise<SessionExecution> {
  const executing = ptc.sessions.execute(session, source, { mustExist, ...(sandbox === undefined ? {} : { sandbox }) })
  const leaving = aborted(first).then(() => {
    const goesOn = isOurs ? 'goes on when a worker runs again' : 'goes on'
    throw new Interrupted(`the code ${goesOn} in session ${session}; \`ptc sessions close ${session}\` stops it`)
  })
  const losing = lost.then(({ code, message, hint }) => {
    throw new PtcError(code, message, hint === undefined ? {} : { hint })
  })
  try {
    return await Promise.race([executing, leaving, losing])
  } finally {
    executing.catch(() => undefined)
    leaving.catch(() => undefined)
    losing.catch(() => undefined)
  }
}
