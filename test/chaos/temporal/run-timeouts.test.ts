import { expect, it, onTestFinished } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { pollOptions } from '../../support/poll-options.js'
import { type PreparedState, prepareState, type RunInState, stateNames } from '../../support/environment/run-states.js'
import { expectReaped } from '../../support/environment/expect-reaped.js'

/** Time of a run, in seconds: it must come to its state before. More where a machine took longer than that. */
const timeoutSeconds = [15, 60, 240]

describeDocker('a run', () => {
  it('F30: out of its time in any state leaves it to the reaper, and what works for it is told', async () => {
    let left = stateNames
    for (const seconds of timeoutSeconds) {
      const places: (readonly [string, PreparedState])[] = []
      // One after the other: a worker finds its model and its daemon in the environment.
      for (const state of left) places.push([state, await prepareState(state, onTestFinished)])
      const reached = await Promise.all(
        places.map(async ([state, place]) => [state, await runUntilTimeout(place, seconds)] as const),
      )
      for (const [, there] of reached) if (there) await expectReaped(there)
      left = reached.filter(([, there]) => there === undefined).map(([state]) => state)
    }
    expect(left).toEqual([])
  }, 900_000)
})

/** Undefined when the run was out of time before it came to its state. */
async function runUntilTimeout({ env, start }: PreparedState, seconds: number): Promise<RunInState | undefined> {
  const tooEarly = async () => {
    await expect.poll(() => env.lastRun, pollOptions).toBeDefined()
    await env.lastRun.result().catch(() => undefined)
    return undefined
  }
  const reached = await Promise.race([start({ workflowExecutionTimeout: `${seconds}s` }), tooEarly()])
  await reached?.handle.result().catch(() => undefined)
  if (reached) expect((await reached.handle.describe()).status.name).toBe('TIMED_OUT')
  return reached
}
