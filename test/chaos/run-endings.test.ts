import { expect, it } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { placeOf, stateNames } from '../support/run-states.js'
import { isSweptUp } from '../support/swept-up.js'

describeDocker('a run', () => {
  it.each(stateNames)('F30: cancelled %s cleans up after itself', async (state) => {
    const { stack, handle, told, letGo } = await (await placeOf(state)).start()
    await handle.cancel()
    letGo?.()
    await handle.result().catch(() => undefined)
    await told
    // It had come to its end already: that goes on.
    const expected = state === 'while its sandbox is closed' ? 'COMPLETED' : 'CANCELLED'
    expect((await handle.describe()).status.name).toBe(expected)
    await stack.leftClean(handle)
  })

  it.each(stateNames)('F30: terminated %s leaves it to the reaper, and what works for it is told', async (state) => {
    const reached = await (await placeOf(state)).start()
    await reached.handle.terminate()
    await isSweptUp(reached)
    expect((await reached.handle.describe()).status.name).toBe('TERMINATED')
  })
})
