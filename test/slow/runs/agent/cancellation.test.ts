import { rename } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import { CancelledFailure } from '@temporalio/common'
import { call, faulty, text, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { Deferred, tool } from '../../../support/tools.js'
import { pollSignal } from '../../../support/poll-options.js'
import { waitForActivity } from '../../../support/environment/waits.js'

/** A tool that runs until it is cancelled, and reports when that happens. */
function blockingTool() {
  const called = new Deferred()
  const stopped = new Deferred()
  const wait = tool('wait', async (_input, { signal }) => {
    called.resolve()
    await waitForAbort(signal)
    return stopped.resolve()
  })
  return { wait, called: called.promise, stopped: stopped.promise }
}

async function cancelAndExpectCancelled(env: TestEnvironment, handle: WorkflowHandle): Promise<void> {
  await handle.cancel()
  await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
  expect((await handle.describe()).status.name).toBe('CANCELLED')
  await env.expectCleanEnd(handle)
}

describe('cancellation of a run', () => {
  it('cancelling a run during a model turn ends it at once, and aborts the model request', async () => {
    const env = await TestEnvironment.start({
      script: [faulty([{ type: 'delay', attempt: 'every', ms: 60_000 }], turn(text('late')))],
    })
    const handle = await env.startAgent()
    await env.api.waitForRequest(({ attempt }) => attempt === 1, pollSignal())
    await cancelAndExpectCancelled(env, handle)
    await env.api.waitForRequest(({ outcome }) => outcome === 'abandoned', pollSignal())
  })

  it('F28: cancelling a run while a direct call runs ends it, and cancels the tool', async () => {
    const { wait, called, stopped } = blockingTool()
    const env = await TestEnvironment.start({ tools: [wait], script: [turn(call('wait')), turn(text('never'))] })
    const handle = await env.startAgent()
    await called
    await cancelAndExpectCancelled(env, handle)
    await stopped
  })

  it('cancelling a run while code waits for calls ends it, cancels each tool, and leaves no sandbox', async () => {
    const { wait, called, stopped } = blockingTool()
    const env = await TestEnvironment.start({ tools: [wait], limits: { callsInFlight: 1 } })
    const handle = await env.startProgram('import asyncio\nawait asyncio.gather(wait(), wait())')
    await called
    await cancelAndExpectCancelled(env, handle)
    await stopped
  })

  it('F30: cancelling a run at the moment of its continue-as-new ends it', async () => {
    const begun = new Deferred()
    const large = tool('large', () => 'kept elsewhere'.repeat(1_000))
    const count = tool('count', () => begun.resolve())
    const env = await TestEnvironment.start({ tools: [large, count], limits: { historyEvents: 100 } })
    await env.runProgram('await large()') // removing a store that was never used has no effect
    const handle = await env.startProgram('while True: await count()')
    await begun.promise
    // The run continues as new when its state can be stored again. Until then no workflow task completes, so the
    // cancellation comes first.
    await rename(env.valuesDirectory, `${env.valuesDirectory}.away`)
    await waitForActivity(handle, 'journal.append')
    const stopped = env.workers.stop()
    await rename(`${env.valuesDirectory}.away`, env.valuesDirectory)
    await stopped
    await handle.cancel()
    await env.workers.start()
    await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
    await env.expectCleanEnd(handle)
  })

  it('cancelling a run while code runs ends it, and leaves no sandbox', async () => {
    const env = await TestEnvironment.start()
    const handle = await env.startProgram('while True: pass')
    await waitForActivity(handle, 'session.step')
    await cancelAndExpectCancelled(env, handle)
  })

  it('cancelling a run while a sandbox is opened leaves no sandbox', async () => {
    const env = await TestEnvironment.start()
    const handle = await env.startProgram('print(1)')
    await waitForActivity(handle, 'session.open')
    await cancelAndExpectCancelled(env, handle)
  })

  it('cancelling a run while it sleeps ends it, and leaves no sandbox', async () => {
    const env = await TestEnvironment.start()
    const handle = await env.startProgram('import asyncio\nawait asyncio.sleep(3600)')
    const sleeps = async () =>
      (await env.history(handle)).events.some(({ timerStartedEventAttributes: timer }) => timer)
    await expect.poll(sleeps).toBe(true)
    await cancelAndExpectCancelled(env, handle)
  })
})

it('F28: terminating a run cancels its tools', async () => {
  const { wait, called, stopped } = blockingTool()
  const env = await TestEnvironment.start({ tools: [wait] })
  const handle = await env.startProgram('await wait()')
  await called
  await handle.terminate()
  await stopped
})

it('a call that code never awaited is cancelled when the run ends', async () => {
  const { wait, called, stopped } = blockingTool()
  const pause = tool('pause', () => called.then(() => null))
  const env = await TestEnvironment.start({ tools: [wait, pause] })
  const { outcome } = await env.runProgram(
    'import asyncio\nt = asyncio.ensure_future(wait())\nawait pause()\nprint("done")',
  )
  expect(outcome).toMatchObject({
    status: 'ok',
    output: expect.stringMatching(/^done\n\[hint\] 1 tool calls were still open/),
  })
  await stopped
})
