import { rename } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import { CancelledFailure } from '@temporalio/common'
import { call, faulty, text, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'
import { aborted, Happening, tool } from '../support/tools.js'
import { patientSignal } from '../support/patient.js'

/** A tool that runs until it is told to stop, and tells when it was. */
function patient() {
  const asked = new Happening<null>()
  const stopped = new Happening<null>()
  const wait = tool('wait', async (_input, { signal }) => {
    asked.happen(null)
    await aborted(signal)
    return stopped.happen(null)
  })
  return { wait, asked: asked.happened, stopped: stopped.happened }
}

async function endsCancelled(stack: Stack, handle: WorkflowHandle): Promise<void> {
  await handle.cancel()
  await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
  expect((await handle.describe()).status.name).toBe('CANCELLED')
  await stack.leftClean(handle)
}

describe('cancelling a run', () => {
  it('while the model answers ends it at once, and the request too', async () => {
    const stack = await Stack.start({
      script: [faulty([{ type: 'delay', attempt: 'every', ms: 60_000 }], turn(text('late')))],
    })
    const handle = await stack.startAgent()
    await stack.api.waitForRequest(({ attempt }) => attempt === 1, patientSignal())
    await endsCancelled(stack, handle)
    await stack.api.waitForRequest(({ outcome }) => outcome === 'abandoned', patientSignal())
  })

  it('F28: while a direct call runs ends it, and the tool is told', async () => {
    const { wait, asked, stopped } = patient()
    const stack = await Stack.start({ tools: [wait], script: [turn(call('wait')), turn(text('never'))] })
    const handle = await stack.startAgent()
    await asked
    await endsCancelled(stack, handle)
    await stopped
  })

  it('while code waits for calls ends it, each tool is told, and no sandbox is left', async () => {
    const { wait, asked, stopped } = patient()
    const stack = await Stack.start({ tools: [wait], limits: { callsInFlight: 1 } })
    const handle = await stack.startProgram('import asyncio\nawait asyncio.gather(wait(), wait())')
    await asked
    await endsCancelled(stack, handle)
    await stopped
  })

  it('F30: at the moment at which it goes on in a fresh history ends it there', async () => {
    const begun = new Happening<null>()
    const large = tool('large', () => 'kept elsewhere'.repeat(1_000))
    const count = tool('count', () => begun.happen(null))
    const stack = await Stack.start({ tools: [large, count], limits: { historyEvents: 100 } })
    await stack.run('await large()') // a store that was never used would only be made anew
    const handle = await stack.startProgram('while True: await count()')
    await begun.happened
    // Its state is kept as soon as there is a place for it, and no workflow task is carried out until the run is cancelled as well.
    await rename(stack.valuesDirectory, `${stack.valuesDirectory}.away`)
    await stack.activityRuns(handle, 'journal.append')
    const stopped = stack.stopWorker()
    await rename(`${stack.valuesDirectory}.away`, stack.valuesDirectory)
    await stopped
    await handle.cancel()
    await stack.startWorker()
    await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
    await stack.leftClean(handle)
  })

  it('while code runs ends it, and no sandbox is left', async () => {
    const stack = await Stack.start()
    const handle = await stack.startProgram('while True: pass')
    await stack.activityRuns(handle, 'session.advance')
    await endsCancelled(stack, handle)
  })

  it('while a sandbox is opened leaves none', async () => {
    const stack = await Stack.start()
    const handle = await stack.startProgram('print(1)')
    await stack.activityRuns(handle, 'session.open')
    await endsCancelled(stack, handle)
  })

  it('while it sleeps ends it, and no sandbox is left', async () => {
    const stack = await Stack.start()
    const handle = await stack.startProgram('import asyncio\nawait asyncio.sleep(3600)')
    const sleeps = async () =>
      (await stack.history(handle)).events.some(({ timerStartedEventAttributes: timer }) => timer)
    await expect.poll(sleeps).toBe(true)
    await endsCancelled(stack, handle)
  })
})

it('F28: terminating a run tells its tools', async () => {
  const { wait, asked, stopped } = patient()
  const stack = await Stack.start({ tools: [wait] })
  const handle = await stack.startProgram('await wait()')
  await asked
  await handle.terminate()
  await stopped
})

it('a call that code never waited for is stopped when the run ends', async () => {
  const { wait, asked, stopped } = patient()
  const pause = tool('pause', () => asked)
  const stack = await Stack.start({ tools: [wait, pause] })
  const { outcome } = await stack.run('import asyncio\nt = asyncio.ensure_future(wait())\nawait pause()\nprint("done")')
  expect(outcome).toMatchObject({
    status: 'ok',
    output: expect.stringMatching(/^done\n\[hint\] 1 tool calls were still open/),
  })
  await stopped
})
