import { programRoles } from '../../common/names.js'
import { PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/plan.js'
import { checkSessionName } from '../sessions/name.js'
import type { SessionExecution } from '../sessions/execute.js'
import { checkStart } from '../start-options.js'
import { unlessAborted } from '../../common/abort.js'
import { aborted, catchInterrupts, Interrupted, type Interrupts } from './interrupts.js'
import { ProgressWriter, type ProgressWriterOptions, wantsColor } from '../render/index.js'
import { withoutTexts } from './follow.js'
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
    checkSessionName(session)
    const source = await unlessAborted(interrupts.first, readText(script))
    checkStart('program', source, {})
    await using place = await openPlace({ config, sandbox, otherwise: 'work', interrupts })
    await place.requireWorkers(programRoles)
    const started = Date.now()
    const executed = await execute(place, interrupts, source, { ...options, shows: 'everything' })
    process.exitCode = showExecution(executed, json, Date.now() - started)
  } catch (thrown) {
    if (json) print(JSON.stringify(executionFailure(session, thrown)))
    throw thrown
  }
}

/**
 * Executes code on a session, shows what it does, and waits for its end. The first Ctrl-C interrupts the code.
 *
 * @throws Interrupted at the second Ctrl-C; PtcError when server or worker are lost, and what executing throws
 */
export async function execute(
  { ptc, lost, isOurs }: Place,
  { first, second }: Pick<Interrupts, 'first' | 'second'>,
  source: string,
  { session, sandbox, mustExist, shows }: Omit<OnSession, 'config'> & Pick<ProgressWriterOptions, 'shows'>,
): Promise<SessionExecution> {
  const progress = new ProgressWriter({ stream: process.stderr, color: wantsColor(process.stderr, process.env), shows })
  const onInterrupt = (): void => progress.print('interrupting the code; once more to leave it to itself')
  first.addEventListener('abort', onInterrupt)
  const executing = ptc.sessions.execute(session, source, {
    mustExist,
    signal: first,
    onChange: (tree) => progress.update(withoutTexts(tree)),
    ...(sandbox === undefined ? {} : { sandbox }),
  })
  const leaving = aborted(second).then(() => {
    const goesOn = isOurs ? 'goes on when a worker runs again' : 'goes on'
    throw new Interrupted(`the code ${goesOn} in session ${session}; \`ptc sessions close ${session}\` stops it`)
  })
  const losing = lost.then(({ code, message, hint }) => {
    throw new PtcError(code, message, hint === undefined ? {} : { hint })
  })
  try {
    return await Promise.race([executing, leaving, losing])
  } finally {
    first.removeEventListener('abort', onInterrupt)
    progress.close()
    for (const other of [executing, leaving, losing]) other.catch(() => undefined)
  }
}
