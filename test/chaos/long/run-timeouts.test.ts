import { expect, it, onTestFinished } from 'vitest'
import { describeDocker } from '../../support/docker.js'
import { patient } from '../../support/patient.js'
import { type Place, placeOf, type Reached, stateNames } from '../../support/run-states.js'
import { isSweptUp } from '../../support/swept-up.js'

/** Time of a run, in seconds: it must come to its state before. More where a machine took longer than that. */
const times = [15, 60, 240]

describeDocker('a run', () => {
  it('F30: out of its time in any state leaves it to the reaper, and what works for it is told', async () => {
    let left = stateNames
    for (const seconds of times) {
      const places: (readonly [string, Place])[] = []
      // One after the other: a worker finds its model and its daemon in the environment.
      for (const state of left) places.push([state, await placeOf(state, onTestFinished)])
      const reached = await Promise.all(
        places.map(async ([state, place]) => [state, await outOfTime(place, seconds)] as const),
      )
      for (const [, there] of reached) if (there) await isSweptUp(there)
      left = reached.filter(([, there]) => there === undefined).map(([state]) => state)
    }
    expect(left).toEqual([])
  }, 900_000)
})

/** Undefined when the run was out of time before it came to its state. */
async function outOfTime({ stack, start }: Place, seconds: number): Promise<Reached | undefined> {
  const tooEarly = async () => {
    await expect.poll(() => stack.lastRun, patient).toBeDefined()
    await stack.lastRun.result().catch(() => undefined)
    return undefined
  }
  const reached = await Promise.race([start({ workflowExecutionTimeout: `${seconds}s` }), tooEarly()])
  await reached?.handle.result().catch(() => undefined)
  if (reached) expect((await reached.handle.describe()).status.name).toBe('TIMED_OUT')
  return reached
}
