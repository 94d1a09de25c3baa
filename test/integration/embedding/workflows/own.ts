import { executeChild, proxyActivities } from '@temporalio/workflow'
import type { ProgramResult } from '../../../../src/client/index.js'

const { greet } = proxyActivities<{ greet(name: string): Promise<string> }>({
  startToCloseTimeout: '10s',
  // A worker without this activity may take it first.
  retry: { maximumInterval: '1s' },
})

/** A workflow of a user: an activity of the user, then a program as a child workflow. */
export async function welcome(name: string): Promise<{ greeting: string; program: ProgramResult }> {
  const greeting = await greet(name)
  const program = await executeChild<(input: { source: string }) => Promise<ProgramResult>>('program', {
    args: [{ source: `print(await plus(a=40, b=2))` }],
  })
  return { greeting, program }
}

/** Calls the activity without retries. */
export async function greetOnce(name: string): Promise<string> {
  const impatient = proxyActivities<{ greet(name: string): Promise<string> }>({
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
  })
  return impatient.greet(name)
}
