import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createAnthropicProvider } from '../../../src/models/anthropic/provider.js'
import { parseConfig } from '../../../src/worker/config/parse-config.js'
import { installRuntime } from '../../../src/worker/index.js'
import { createValues } from '../../../src/worker/create-values.js'
import { createTemporalWorkers } from '../../../src/worker/temporal-workers.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'

installRuntime('ERROR', () => undefined)

// Node aborts the whole process when workflow code is stopped at its timeout ("async hook stack has become corrupted").
// The SDK accepts the timeout as an undocumented option, so an update may drop it silently.
test('workflow code has a time limit of one minute', async ({ server, nativeConnection, taskQueue }) => {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-slow-'))
  const config = parseConfig({ tools: [], taskQueue, values: { store: { kind: 'local', directory } } }, 'test')
  const provider = createAnthropicProvider({ idleTimeoutMs: 1_000, timeoutMs: 1_000 })
  const values = await createValues(config)
  const { namespace } = server
  const options = { connection: nativeConnection, namespace, config, hostId: 'test', provider, host: undefined, values }
  const workers = await createTemporalWorkers({ ...options, roles: ['workflow'] })
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.runUntil(Promise.resolve())))
    await provider.close()
    await values.close()
    await rm(directory, { recursive: true, force: true })
  })
  expect(workers[0]?.options.isolateExecutionTimeoutMs).toBe(60_000)
})
