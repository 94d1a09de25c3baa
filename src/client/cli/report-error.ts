import { CommanderError } from 'commander'
import { messageOf, PtcError } from '../../common/errors.js'
import { exitCodeOf, exitCodes } from './exit-code.js'
import { say } from './terminal.js'

/** Tells the user what went wrong and what to do, and gives the exit code. `PTC_DEBUG=1` shows the stack as well. */
export function reportError(thrown: unknown): number {
  // Commander has said what is wrong with the command line, or has printed help or version, which is no error.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  say(`ptc: ${messageOf(thrown)}`)
  if (PtcError.isInstance(thrown) && thrown.hint !== undefined) say(thrown.hint)
  if (process.env['PTC_DEBUG'] === '1') showStack(thrown)
  else if (isOurFault(thrown)) say('This should not happen; PTC_DEBUG=1 shows where it comes from.')
  return exitCodeOf(thrown)
}

function showStack(thrown: unknown): void {
  for (let each = thrown; each instanceof Error; each = each.cause) say(each.stack ?? String(each))
}

function isOurFault(thrown: unknown): boolean {
  return !PtcError.isInstance(thrown) && exitCodeOf(thrown) === exitCodes.failed
}
