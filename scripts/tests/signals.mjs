// Handling of signals in the test commands.
import { constants } from 'node:os'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP']
const exit = (name) => process.exit(exitCodeOf(name))
let handle = exit

/** Makes the process exit at a signal, so that its `exit` listeners run. */
export function exitOnSignals() {
  for (const name of names) process.on(name, () => handle(name))
}

/** Passes signals to the caller until the returned function is called. */
export function handleSignals(handler) {
  handle = handler
  return () => {
    handle = exit
  }
}

/** The exit code of shells for a process that a signal ended. */
export function exitCodeOf(name) {
  return 128 + constants.signals[name]
}
