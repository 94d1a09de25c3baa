import { Worker } from '@temporalio/worker'
import { expect } from 'vitest'
import { PtcPlugin } from '../../../src/worker/plugin/index.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import '../../support/environment/install-runtime.js'

// Node aborts the whole process when workflow code is stopped at its timeout ("async hook stack has become corrupted").
// The SDK accepts the timeout as an undocumented option, so an update may drop it silently.
test('workflow code has a time limit of one minute', async ({ server, nativeConnection, taskQueue }) => {
  const plugin = new PtcPlugin({ tools: [], roles: ['workflow'] })
  const { namespace } = server
  const worker = await Worker.create({ connection: nativeConnection, namespace, taskQueue, plugins: [plugin] })
  await worker.runUntil(Promise.resolve())
  expect(worker.options.isolateExecutionTimeoutMs).toBe(60_000)
})
