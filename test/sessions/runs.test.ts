import { describe, expect, it } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { patient } from '../support/patient.js'
import { answerResult, call, code, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

/** A tool that answers when the test says so. */
function world() {
  const asked = new Happening()
  const answered = new Happening<string>()
  const wait = tool('wait', () => {
    asked.happen()
    return answered.happened
  })
  return { asked, answered, tools: [wait] }
}

describe('the sandbox of a run', () => {
  it('is listed and shown with its run while that goes on, and refuses to be closed', async () => {
    const { asked, answered, tools } = world()
    const stack = await Stack.start({ tools })
    const { sessions } = stack.ptc
    const handle = await stack.startProgram('x = await wait()', { sandbox: 'auto' })
    await asked.happened
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
    await expect.poll(() => sessions.list(), patient).toEqual([info])
    expect(await sessions.list({ runs: 0 })).toEqual([])
    const owned = {
      code: 'SESSION_OWNED',
      message: `${handle.workflowId} is the sandbox of a run (program), and ends with it`,
      hint: `\`ptc cancel ${handle.workflowId}\` stops the run.`,
    }
    await expect(sessions.close(handle.workflowId)).rejects.toMatchObject(owned)
    await expect(sessions.interrupt(handle.workflowId)).rejects.toMatchObject(owned)
    expect(await sessions.closeAll()).toEqual([])
    answered.happen('late')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await expect(sessions.show(handle.workflowId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect.poll(() => sessions.list(), patient).toEqual([])
    await stack.leftClean(handle)
  })

  it('of an agent is none before the first cell', async () => {
    const { asked, answered, tools } = world()
    const stack = await Stack.start({ tools, script: [turn(call('wait')), answerResult] })
    const handle = await stack.startAgent()
    await asked.happened
    await expect(stack.ptc.sessions.show(handle.workflowId)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
      message: `run ${handle.workflowId} has no sandbox at the moment`,
    })
    answered.happen('late')
    await handle.result()
  })

  it('of an agent is idle between two cells', async () => {
    const { asked, answered, tools } = world()
    const stack = await Stack.start({ tools, script: [turn(code('x = 1')), turn(call('wait')), answerResult] })
    const handle = await stack.startAgent()
    await asked.happened
    expect(await stack.ptc.sessions.show(handle.workflowId)).toMatchObject({ owner: 'agent', state: 'idle', cells: 1 })
    answered.happen('late')
    await handle.result()
    await stack.leftClean(handle)
  })
})

describeDocker('the sandbox of a run that waits for long', () => {
  it('is listed as parked', async () => {
    const { answered, tools } = world()
    const stack = await Stack.start({ tools, timings: { park: '1s' } })
    const handle = await stack.startProgram('print(await wait())')
    const state = async () => (await stack.ptc.sessions.list()).map(({ name, state }) => ({ name, state }))
    await expect.poll(state, patient).toEqual([{ name: handle.workflowId, state: 'parked' }])
    answered.happen('late')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'late\n' } })
    await stack.leftClean(handle)
  })
})
