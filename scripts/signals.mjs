// What signals do to the entry scripts of tests.
import { constants } from 'node:os'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP']
const exit = (name) => process.exit(exitCodeOf(name))
let handle = exit

/** From now on a signal makes the process exit, so that its `exit` listeners run. */
export function exitOnSignals() {
  for (const name of names) process.on(name, () => handle(name))
}

/** Until the function that this returns is called, signals are handled by the caller. */
export function handleSignals(handler) {
  handle = handler
  return () => {
    handle = exit
  }
}

/** The exit code of a process that a signal ended, as shells give it. */
export function exitCodeOf(name) {
  return 128 + constants.signals[name]
}
