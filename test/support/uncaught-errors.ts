import { onTestFinished } from 'vitest'

const events = ['uncaughtException', 'unhandledRejection'] as const

/** Removes the listeners of the test runner until the test ends, because they fail the test for each uncaught error. */
export function withoutRunnerListeners(): void {
  for (const event of events) {
    const listeners = process.listeners(event as 'uncaughtException')
    process.removeAllListeners(event)
    onTestFinished(() => {
      process.removeAllListeners(event)
      for (const listener of listeners) process.on(event, listener)
    })
  }
}
