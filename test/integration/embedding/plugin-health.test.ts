import { expect, vi } from 'vitest'
import { connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { pollOptions } from '../../support/poll-options.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import { unusedAddress } from '../../support/unused-address.js'

test('the health of a plugin reports that no worker runs, and that the value store does not answer', async ({
  taskQueue,
}) => {
  const endpoint = `http://${unusedAddress}`
  const store = { kind: 's3', bucket: 'gone', endpoint, region: 'us-east-1', forcePathStyle: true } as const
  const plugin = await createPlugin({ values: { store } })
  expect(await plugin.health()).toMatchObject({ ready: false, checks: [{ problem: 'no worker runs' }] })
  const connection = await connect({ plugins: [plugin] })
  const worker = await createWorker({ connection, taskQueue })
  const health = await worker.runUntil(async () => {
    await vi.waitUntil(
      async () => (await plugin.health()).checks.some(({ name, ok }) => name === 'workers' && ok),
      pollOptions,
    )
    return plugin.health()
  })
  expect(health.ready).toBe(false)
  expect(health.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['values'])
})
