import { waitForAbort } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { Interrupted } from '../process/interrupts.js'
import type { Environment } from './environment.js'

export interface RaceWithExitOptions {
  /** Aborted when the user stops waiting. */
  readonly leaveSignal: AbortSignal
  /** Tells the user what continues without the command. */
  readonly leaveMessage: string
  /** Appended to the hint of an unexpected exit. */
  readonly exitHint?: string
}

/**
 * The result of the work, unless the server or the worker exits or the user leaves first.
 *
 * @throws PtcError of the exit; Interrupted; what the work throws
 */
export async function raceWithExit<Result>(
  work: Promise<Result>,
  { unexpectedExit }: Pick<Environment, 'unexpectedExit'>,
  { leaveSignal, leaveMessage, exitHint }: RaceWithExitOptions,
): Promise<Result> {
  const left = waitForAbort(leaveSignal).then(() => {
    throw new Interrupted(leaveMessage)
  })
  const exited = unexpectedExit.then(({ code, message, hint }) => {
    const hints = [hint, exitHint].filter((each) => each !== undefined)
    throw new PtcError(code, message, hints.length === 0 ? {} : { hint: hints.join('\n') })
  })
  try {
    return await Promise.race([work, left, exited])
  } finally {
    for (const other of [work, left, exited]) other.catch(() => undefined)
  }
}
