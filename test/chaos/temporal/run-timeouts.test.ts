import { expect, it, onTestFinished } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { type PreparedState, prepareState, type RunInState, stateNames } from '../../support/environment/run-states.js'
import { expectReaped } from '../../support/environment/expect-reaped.js'

/**
 * Run timeouts in seconds, tried in order. The run must reach its state before the timeout, so a slow machine uses a
 * longer one.
 */
const timeoutSeconds = [15, 60, 240]

describeDocker('a run', () => {
  it('F30: a run that times out in any state leaves its sandbox to the reaper, and cancels its tools', async () => {
    let remaining = stateNames
    for (const seconds of timeoutSeconds) {
      const prepared: (readonly [string, PreparedState])[] = []
      // Sequentially: a worker reads the address of its Docker daemon from the environment.
      for (const state of remaining) prepared.push([state, await prepareState(state, onTestFinished)])
      const reached = await Promise.all(
        prepared.map(async ([state, start]) => [state, await runUntilTimeout(start, seconds)] as const),
      )
      for (const [, run] of reached) if (run) await expectReaped(run)
      remaining = reached.filter(([, run]) => run === undefined).map(([state]) => state)
    }
    expect(remaining).toEqual([])
  }, 900_000)
})

/** @returns undefined when the run timed out before it reached its state */
async function runUntilTimeout({ env, start }: PreparedState, seconds: number): Promise<RunInState | undefined> {
  const tooEarly = async () => {
    await expect.poll(() => env.lastRun).toBeDefined()
    await env.lastRun.result().catch(() => undefined)
    return undefined
  }
  const reached = await Promise.race([start({ workflowExecutionTimeout: `${seconds}s` }), tooEarly()])
  await reached?.handle.result().catch(() => undefined)
  if (reached) expect((await reached.handle.describe()).status.name).toBe('TIMED_OUT')
  return reached
}
