import { describe, expect, it } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

/** A tool that returns when the test releases it. */
function blockingTool() {
  const called = new Deferred()
  const answered = new Deferred<string>()
  const wait = tool('wait', () => {
    called.resolve()
    return answered.promise
  })
  return { called, answered, tools: [wait] }
}

describe('the sandbox of a run', () => {
  it("the sandbox of a run is listed and shown while the run is open, and can't be closed", async () => {
    const { called, answered, tools } = blockingTool()
    const env = await TestEnvironment.start({ tools })
    const { sessions } = env.ptc
    const handle = await env.startProgram('x = await wait()', { sandbox: 'auto' })
    await called.promise
    const info = await sessions.show(handle.workflowId)
    expect(info).toMatchObject({
      name: handle.workflowId,
      owner: 'program',
      state: 'busy',
      backend: expect.stringMatching(/^(docker|wasm)$/),
      cells: 1,
      toolCalls: 1,
      expiresAt: undefined,
    })
    await expect.poll(() => sessions.list()).toEqual([info])
    expect(await sessions.list({ runs: 0 })).toEqual([])
    const owned = {
      code: 'SESSION_OWNED',
      message: `${handle.workflowId} is the sandbox of a run (program), and ends with it`,
      hint: `\`ptc cancel ${handle.workflowId}\` stops the run.`,
    }
    await expect(sessions.close(handle.workflowId)).rejects.toMatchObject(owned)
    await expect(sessions.interrupt(handle.workflowId)).rejects.toMatchObject(owned)
    expect(await sessions.closeAll()).toEqual([])
    answered.resolve('late')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await expect(sessions.show(handle.workflowId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect.poll(() => sessions.list()).toEqual([])
    await env.expectCleanEnd(handle)
  })

  it('the sandbox of an agent does not exist before the first cell', async () => {
    const { called, answered, tools } = blockingTool()
    const env = await TestEnvironment.start({ tools, script: [turn(call('wait')), answerResult] })
    const handle = await env.startAgent()
    await called.promise
    await expect(env.ptc.sessions.show(handle.workflowId)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
      message: `run ${handle.workflowId} has no sandbox at the moment`,
    })
    answered.resolve('late')
    await handle.result()
  })

  it('the sandbox of an agent is idle between two cells', async () => {
    const { called, answered, tools } = blockingTool()
    const env = await TestEnvironment.start({ tools, script: [turn(code('x = 1')), turn(call('wait')), answerResult] })
    const handle = await env.startAgent()
    await called.promise
    expect(await env.ptc.sessions.show(handle.workflowId)).toMatchObject({ owner: 'agent', state: 'idle', cells: 1 })
    answered.resolve('late')
    await handle.result()
    await env.expectCleanEnd(handle)
  })
})

describeDocker('the sandbox of a parked run', () => {
  it('the sandbox of a parked run is listed as parked', async () => {
    const { answered, tools } = blockingTool()
    const env = await TestEnvironment.start({ tools, timeouts: { park: '1s' } })
    const handle = await env.startProgram('print(await wait())')
    const state = async () => (await env.ptc.sessions.list()).map(({ name, state }) => ({ name, state }))
    await expect.poll(state).toEqual([{ name: handle.workflowId, state: 'parked' }])
    answered.resolve('late')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'late\n' } })
    await env.expectCleanEnd(handle)
  })
})
