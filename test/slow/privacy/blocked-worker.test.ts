import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultPayloadConverter } from '@temporalio/common'
import { beforeAll, expect, it, vi } from 'vitest'
import { KeyRing } from '../../../src/values/encryption/key-ring.js'
import { EncryptionCodec, encryptionKeyId } from '../../../src/values/encryption/payload-codec.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { pendingActivities } from '../../support/environment/waits.js'
import { temporaryFolder } from '../../support/folders.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { useOwnNamespace } from '../../support/temporal/shared-server.js'

beforeAll(useOwnNamespace)

const config = fileURLToPath(new URL('../../fixtures/encryption.config.ts', import.meta.url))

it('encrypts the heartbeats and the result of a call that blocks the event loop of its worker', async () => {
  const folder = await temporaryFolder()
  const key = randomBytes(32).toString('base64')
  const encryption = { currentKeyId: 'k1', key: () => key }
  const store = { kind: 'local', directory: join(folder, 'values') } as const
  const environment = { TEST_KEY: key, TEST_VALUES: store.directory }
  const env = await TestEnvironment.startProcesses({ config, store, encryption, environment })
  const handle = await env.startProgram('print(await block(name="marker"))')
  const codec = new EncryptionCodec(new KeyRing(encryption))
  const blocked = await vi.waitUntil(async () => {
    const [pending] = await pendingActivities(handle, 'block')
    const payloads = pending?.heartbeatDetails?.payloads ?? []
    const [decoded] = await codec.decode(payloads)
    const details = decoded && defaultPayloadConverter.fromPayload<{ readonly blocked?: string }>(decoded)
    return details?.blocked === undefined ? undefined : { payloads, details }
  }, fastPollOptions)
  expect(blocked.details).toMatchObject({ blocked: expect.stringContaining('tool block') })
  expect(blocked.payloads.map(encryptionKeyId)).toEqual(['k1'])
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'marker\n' } })
  const completed = (await env.history()).events.flatMap(
    ({ activityTaskCompletedEventAttributes: each }) => each?.result?.payloads ?? [],
  )
  expect(completed.length).toBeGreaterThan(2)
  expect(new Set(completed.map(encryptionKeyId))).toEqual(new Set(['k1']))
  expect(JSON.stringify(await env.ptc.handle(handle.workflowId).tree())).toMatch(/tool block blocked the event loop/)
})
