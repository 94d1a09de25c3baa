import { expect, it } from 'vitest'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { defineBackend } from '../../../../src/sandbox/define-backend.js'
import { createWasmBackend } from '../../../../src/sandbox/wasm/index.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { scheduledCount } from '../../../support/environment/waits.js'
import { pollOptions } from '../../../support/poll-options.js'
import { Deferred, tool } from '../../../support/tools.js'

/** A backend of another name: workers in this file have it or lack it. */
const mine = defineBackend({
  name: 'mine',
  create() {
    const wasm = createWasmBackend({ warm: 0 })
    return {
      name: 'mine',
      open: (spec, signal) => wasm.open(spec, signal),
      attach: (id, signal) => wasm.attach(id, signal),
      remove: (id) => wasm.remove(id),
      check: () => wasm.check(),
      close: () => wasm.close(),
    }
  },
})

it('a run waits for a worker that has its backend, reports that, and continues there with its state', async () => {
  const called = new Deferred()
  const released = new Deferred<string>()
  const pay = (): Promise<string> => {
    called.resolve()
    return released.promise
  }
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [tool('pay', pay)],
    timeouts: { host: '1s' },
  })
  const handle = await env.startProgram('before = "kept"\nprint(before, await pay())', { sandbox: 'mine' })
  const run = env.ptc.handle(handle.workflowId)
  const shown = async (): Promise<string> => renderTree(await run.tree(), { width: 200, color: false })
  const waits = new RegExp(
    `no worker with the sandbox mine takes tasks from ${env.taskQueue}\\.sandbox\\.mine: waiting`,
  )
  await expect.poll(shown, pollOptions).toMatch(waits)
  expect((await run.tree()).unserved).toMatchObject([{ role: 'sandbox', sandbox: 'mine' }])
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')
  expect(currentDetails).toMatch(/Waits for a worker with the sandbox `mine` since/)

  // This worker has no tools, so that the call goes to the first worker, which is alive.
  const capable = await env.workers.start({ sandbox: { backend: mine }, roles: ['sandbox'] })
  await called.promise
  await capable.shutdown()
  released.resolve('paid')
  await expect.poll(() => scheduledCount(handle, 'session.open'), pollOptions).toBe(2)
  await expect.poll(shown, pollOptions).toMatch(waits)
  await env.workers.start({ sandbox: { backend: mine }, roles: ['sandbox'] })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'kept paid\n' }, toolCalls: 1 })
  await env.expectCleanEnd(handle)
})

it('an interrupt ends a cell that waits for a worker with its backend, and the session continues', async () => {
  const env = await TestEnvironment.start({ backend: 'wasm' })
  const { sessions } = env.ptc
  const name = 'waiting'
  const first = sessions.execute(name, 'x = 1', { sandbox: 'mine' })
  await expect.poll(() => sessions.show(name).catch(() => undefined), pollOptions).toMatchObject({ name })
  const handle = env.client.workflow.getHandle((await sessions.show(name)).workflowId)
  await expect.poll(() => scheduledCount(handle, 'session.open'), pollOptions).toBe(1)
  await sessions.interrupt(name)
  expect(await first).toMatchObject({
    outcome: { status: 'stopped', error: 'Interrupted: the code was stopped while it waited for a sandbox' },
  })
  await env.workers.start({ sandbox: { backend: mine }, roles: ['sandbox'] })
  expect(await sessions.execute(name, 'print("x" in globals())')).toMatchObject({ outcome: { output: 'False\n' } })
  await sessions.close(name)
  await env.expectCleanEnd(handle)
})
