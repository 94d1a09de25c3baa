import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { closingState, prepareState, stateNames } from '../../support/environment/run-states.js'
import { expectReaped } from '../../support/environment/expect-reaped.js'

describeDocker('a run', () => {
  it.each(stateNames)('F30: a run cancelled %s removes its sandbox and stops its tools', async (state) => {
    const { env, handle, toolAborted, release } = await (await prepareState(state)).start()
    await handle.cancel()
    release?.()
    await handle.result().catch(() => undefined)
    await toolAborted
    // The run is already completing, and completes.
    const expected = state === closingState ? 'COMPLETED' : 'CANCELLED'
    expect((await handle.describe()).status.name).toBe(expected)
    await env.expectCleanEnd(handle)
  })

  it.each(stateNames)(
    'F30: a run terminated %s leaves its sandbox to the reaper, and its running tools are cancelled',
    async (state) => {
      const reached = await (await prepareState(state)).start()
      await reached.handle.terminate()
      await expectReaped(reached)
      expect((await reached.handle.describe()).status.name).toBe('TERMINATED')
    },
  )
})
