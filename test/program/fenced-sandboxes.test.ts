import { ApplicationFailure } from '@temporalio/common'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, it, onTestFinished } from 'vitest'
import { activityNames, hostQueue, roleQueue } from '../../src/common/names.js'
import type { OpenedSession, SessionRef } from '../../src/common/steps.js'
import { installRuntime } from '../../src/worker/index.js'
import { SplitStack } from '../support/split-stack.js'
import { testTemporal } from '../support/temporal.js'

installRuntime('ERROR', () => undefined)

it('H1: a program whose every sandbox is fenced off loses its cell after eleven sandboxes', async () => {
  const stack = await SplitStack.start({ tools: [], timings: {}, roles: ['tools'] })
  const own = hostQueue(stack.taskQueue, 'fenced')
  let opened = 0
  const open = ({ session }: { readonly session: SessionRef }): OpenedSession => {
    opened += 1
    return { session: { ...session, backend: 'fake' }, hostQueue: own, description: 'fake', keepsParked: false }
  }
  const advance = (): never => {
    throw ApplicationFailure.nonRetryable('fenced off', 'SANDBOX_FENCED')
  }
  const { address, namespace } = testTemporal()
  const connection = await NativeConnection.connect({ address })
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      taskQueue: roleQueue(stack.taskQueue, 'sandbox'),
      activities: { [activityNames.openSession]: open },
    }),
    Worker.create({
      connection,
      namespace,
      taskQueue: own,
      activities: { [activityNames.advanceSession]: advance, [activityNames.closeSession]: () => undefined },
    }),
  ])
  const working = Promise.all(workers.map((worker) => worker.run()))
  onTestFinished(async () => {
    for (const worker of workers) worker.shutdown()
    await working
    await connection.close()
  })
  await stack.startDecider()
  const handle = await stack.startProgram('print(1)')
  expect(await handle.result()).toMatchObject({
    outcome: { status: 'lost', error: 'the sandbox is ahead of this run' },
  })
  expect(opened).toBe(11)
  await stack.replays(handle)
})
