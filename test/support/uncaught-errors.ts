import { onTestFinished } from 'vitest'

const events = ['uncaughtException', 'unhandledRejection'] as const

/** Takes away the listeners of the test runner, which fails the test for each uncaught error, until the test ends. */
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
