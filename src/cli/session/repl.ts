import { languageOf } from '../../languages/index.js'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { programRoles } from '../../common/names.js'
import { checkName } from '../../client/start/check-name.js'
import { validateStart, generateId } from '../../client/start/start-options.js'
import { exitCodes } from '../process/exit-code.js'
import { executeWithProgress, readSessionData, type SessionOptions, type SessionTarget } from './exec-in-session.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { listenForInterrupts, Interrupted, type Interrupts } from '../process/interrupts.js'
import { openEnvironment, type Environment } from '../environment/environment.js'
import { canAsk } from '../process/ask-line.js'
import { readText } from '../process/read-text.js'
import { languageInSession } from './language-in-session.js'
import { languageOfProgram, type RunData } from '../run/options.js'
import { openReplInput, type ReplInput } from './repl-input.js'
import { openReplHistory } from './repl-history.js'
import { findStateDirectory } from '../environment/project.js'
import { printExecution } from './print-execution.js'
import { printError, printStatus } from '../process/stdio.js'

interface ReplOptions extends Omit<SessionOptions, 'session'> {
  /** A file that is executed first. */
  readonly script: string | undefined
  /** Undefined starts a new session, which is closed at the end. */
  readonly session?: string
}

/** After these errors the next block would fail too. */
const fatalCodes: readonly ErrorCode[] = ['TEMPORAL_UNREACHABLE', 'INTERNAL', 'SESSION_NOT_FOUND']

/** Reads code block by block and executes it on a session, until the input ends; returns the exit code. */
export async function runRepl(options: ReplOptions): Promise<number> {
  using interrupts = listenForInterrupts()
  const { script, config, sandbox, session = generateId('repl') } = options
  checkName('session', session)
  const source = script === undefined ? undefined : await raceWithSignal(interrupts.first, readText(script))
  if (source !== undefined) validateStart('program', source, {})
  const data = await readSessionData(options)
  await using environment = await openEnvironment({ config, sandbox, ifNoServer: 'start_with_worker', interrupts })
  await environment.requireWorkers(programRoles)
  await using ownedSession = options.session === undefined ? closeSessionOnDispose(environment, session) : undefined
  const chosen = languageOfProgram(script, options.language)
  const { typed, ...language } = await languageInSession(environment, options.session, chosen)
  const { repl, name } = languageOf(typed)
  using input = await openReplInput({
    repl,
    names: environment.toolNamesIn(name),
    openHistory: () => openReplHistory(findStateDirectory()),
  })
  const target = { session, sandbox, ...language, mustExist: options.mustExist, data }
  if (process.stdin.isTTY) printStatus(`session ${session}: Tab completes names; exit or Ctrl-D leaves`)
  if (source !== undefined) await executeBlock(environment, interrupts, input, source, target)
  const blocks = input.blocks()
  for (;;) {
    const next = await raceWithSignal(interrupts.first, blocks.next())
    if (next.done === true) break
    // A pipe gets exactly the output of the code.
    const block = canAsk() ? repl.displayValueOf(next.value) : next.value
    await executeBlock(environment, interrupts, input, block, target)
  }
  if (ownedSession === undefined)
    printStatus(`session ${session} stays until it expires; \`ptc exec -i --session ${session}\` continues`)
  return exitCodes.ok
}

/** Prints an error and returns, so that the next block is read; throws the fatal ones. */
async function executeBlock(
  environment: Environment,
  { first, second }: Interrupts,
  input: ReplInput,
  source: string,
  target: SessionTarget & { readonly data: RunData },
): Promise<void> {
  const interruptController = new AbortController()
  const leaveController = new AbortController()
  input.onInterrupt(() =>
    (interruptController.signal.aborted ? leaveController : interruptController).abort(new Interrupted('interrupted')),
  )
  const started = Date.now()
  try {
    const signals = {
      first: AbortSignal.any([first, interruptController.signal]),
      second: AbortSignal.any([second, leaveController.signal]),
    }
    const execution = await executeWithProgress(environment, signals, source, { ...target, content: 'live' })
    printExecution(execution, false, Date.now() - started)
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || fatalCodes.includes(thrown.code)) throw thrown
    printError(thrown)
  }
}

/** Closes a session with a generated name when the REPL ends, because no other program uses it. */
function closeSessionOnDispose({ ptc }: Environment, session: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      try {
        await ptc.sessions.close(session)
      } catch (thrown) {
        // The session has not started, or has ended. If the server is unreachable, the session expires.
        if (!PtcError.isInstance(thrown)) throw thrown
      }
    },
  }
}
