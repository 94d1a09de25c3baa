import { type ErrorCode, PtcError } from '../../common/errors.js'
import { programRoles } from '../../common/names.js'
import { checkSessionName } from '../sessions/name.js'
import { checkStart, madeUpName } from '../start-options.js'
import { execute, type OnSession } from './exec-on-session.js'
import { unlessAborted } from '../../common/abort.js'
import { catchInterrupts, Interrupted, type Interrupts } from './interrupts.js'
import { openPlace, type Place } from './place.js'
import { readText } from './read-text.js'
import { openReplInput, type ReplInput } from './repl-input.js'
import { showExecution } from './show-execution.js'
import { say } from './terminal.js'

export interface ReplOptions extends Omit<OnSession, 'session'> {
  /** Executed first. */
  readonly script: string | undefined
  /** Undefined: one of its own, that ends with it. */
  readonly session: string | undefined
}

/** With these, nothing more can come of going on. */
const fatal: readonly ErrorCode[] = ['TEMPORAL_UNREACHABLE', 'INTERNAL', 'SESSION_NOT_FOUND']

/** Reads code block by block and executes it on a session, until the input ends. */
export async function startRepl(options: ReplOptions): Promise<void> {
  using interrupts = catchInterrupts()
  const { script, config, sandbox, session = madeUpName('repl') } = options
  checkSessionName(session)
  const source = script === undefined ? undefined : await unlessAborted(interrupts.first, readText(script))
  if (source !== undefined) checkStart('program', source, {})
  await using place = await openPlace({ config, sandbox, otherwise: 'work', interrupts })
  await place.requireWorkers(programRoles)
  await using own = options.session === undefined ? ownSession(place, session) : undefined
  using input = openReplInput()
  const on = { session, sandbox, mustExist: options.mustExist }
  if (process.stdin.isTTY) say(`session ${session}: print what you want to see; exit or Ctrl-D leaves`)
  if (source !== undefined) await executeBlock(place, interrupts, input, source, on)
  const blocks = input.blocks()
  for (;;) {
    const next = await unlessAborted(interrupts.first, blocks.next())
    if (next.done === true) break
    await executeBlock(place, interrupts, input, next.value, on)
  }
  if (own === undefined) say(`session ${session} stays until it expires; \`ptc exec -i --session ${session}\` goes on`)
}

/** Every error but those that end everything is told, and the next block is read. */
async function executeBlock(
  place: Place,
  { first, second }: Interrupts,
  input: ReplInput,
  source: string,
  on: Omit<OnSession, 'config'>,
): Promise<void> {
  const stop = new AbortController()
  const leave = new AbortController()
  input.onInterrupt(() => (stop.signal.aborted ? leave : stop).abort(new Interrupted('interrupted')))
  const started = Date.now()
  try {
    const either = {
      first: AbortSignal.any([first, stop.signal]),
      second: AbortSignal.any([second, leave.signal]),
    }
    const executed = await execute(place, either, source, { ...on, shows: 'live' })
    showExecution(executed, false, Date.now() - started)
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || fatal.includes(thrown.code)) throw thrown
    say(`ptc: ${thrown.message}`)
    if (thrown.hint !== undefined) say(thrown.hint)
  }
}

/** Nobody else knows of a session that was not named: it ends with whoever began it, however that ends. */
function ownSession({ ptc }: Place, session: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      try {
        await ptc.sessions.close(session)
      } catch (thrown) {
        // Never begun, or over; were the server gone, the session would expire.
        if (!PtcError.isInstance(thrown)) throw thrown
      }
    },
  }
}
