import { ApplicationFailure } from '@temporalio/common'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, it, onTestFinished } from 'vitest'
import { activityNames, hostQueue, sandboxQueue } from '../../../../src/common/names.js'
import type { OpenedSession, SessionRef } from '../../../../src/common/session/session.js'
import { sharedServer } from '../../../support/temporal/shared-server.js'
import { expectReplays } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

it('H1: a program whose sandboxes are all fenced loses its cell after eleven sandboxes', async () => {
  const tools = [tool('unused', () => null)]
  const env = await TestEnvironment.start({ backend: 'wasm', tools, initialWorkers: [{ roles: ['tools'] }] })
  const own = hostQueue(env.taskQueue, 'fenced', 'wasm')
  let opened = 0
  const open = ({ session }: { readonly session: SessionRef }): OpenedSession => {
    opened += 1
    return { session, hostQueue: own, description: 'fake', supportsCheckpoint: false }
  }
  const advance = (): never => {
    throw ApplicationFailure.nonRetryable('fenced off', 'SANDBOX_FENCED')
  }
  const { address, namespace } = sharedServer()
  const connection = await NativeConnection.connect({ address })
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      taskQueue: sandboxQueue(env.taskQueue, 'wasm'),
      activities: { [activityNames.openSession]: open },
    }),
    Worker.create({
      connection,
      namespace,
      taskQueue: own,
      activities: { [activityNames.executeStep]: advance, [activityNames.closeSession]: () => undefined },
    }),
  ])
  const working = Promise.all(workers.map((worker) => worker.run()))
  onTestFinished(async () => {
    for (const worker of workers) worker.shutdown()
    await working
    await connection.close()
  })
  await env.workers.start({ roles: ['workflow'] })
  const handle = await env.startProgram('print(1)')
  expect(await handle.result()).toMatchObject({
    outcome: { status: 'lost', error: 'the sandbox is ahead of this run' },
  })
  expect(opened).toBe(11)
  await expectReplays(env.client, handle)
})
