import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Client } from '@temporalio/client'
import type { Payload, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { beforeAll, expect } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { KeyRing } from '../../../src/values/encryption/key-ring.js'
import { EncryptionCodec } from '../../../src/values/encryption/payload-codec.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { readHistory } from '../../support/environment/histories.js'
import { temporaryFolder } from '../../support/folders.js'
import {
  sharedServer,
  temporalTest as test,
  uniqueName,
  useOwnNamespace,
} from '../../support/temporal/shared-server.js'

beforeAll(useOwnNamespace)

const { History } = proto.temporal.api.history.v1
const workflowsPath = fileURLToPath(new URL('../embedding/workflows/own.ts', import.meta.url))
const key = randomBytes(32)
const encryption = { currentKeyId: 'k1', key: () => key }

async function historyText(client: Client, workflowId: string): Promise<string> {
  return Buffer.from(History.encode(await readHistory(client, workflowId)).finish()).toString('latin1')
}

test('a plugin encrypts payloads and failures of user workflows, after the codec of the user', async ({
  taskQueue,
  workflowId,
}) => {
  const plugin = await createPlugin({ encryption })
  const connection = await connect()
  const dataConverter = { payloadCodecs: [notingCodec] }
  const activities = { greet: (name: string) => Promise.reject(new Error(`marker of ${name}`)) }
  const worker = await createWorker({
    connection,
    taskQueue,
    workflowsPath,
    activities,
    dataConverter,
    plugins: [plugin],
  })
  const { namespace } = sharedServer()
  const client = new Client({ connection, namespace, dataConverter, plugins: [plugin] })
  const running = worker.runUntil(client.workflow.execute('greetOnce', { taskQueue, workflowId, args: ['Ada marker'] }))
  await expect(running).rejects.toMatchObject({ cause: { cause: { message: 'marker of Ada marker' } } })
  const text = await historyText(client, workflowId)
  expect(text).toContain('Encoded failure')
  expect(text.includes('marker')).toBe(false)
  const [started] = (await readHistory(client, workflowId)).events
  const [payload = {}] = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  const [decrypted = {}] = await new EncryptionCodec(new KeyRing(encryption)).decode([payload])
  expect(Buffer.from(decrypted.metadata?.['note'] ?? []).toString()).toBe('of the user')
})

test('the failure of an encrypted run is readable only with its key', async ({ taskQueue }) => {
  const plugin = await createPlugin({ encryption })
  const connection = await connect({ plugins: [plugin] })
  const worker = await createWorker({ connection, taskQueue })
  const client = clientOf(connection)
  const run = await worker.runUntil(async () => {
    const started = await createPtcClient({ client, taskQueue }).startAgent({ question: 'why?', agent: 'marker' })
    await expect(started.result()).rejects.toMatchObject({
      code: 'AGENT_UNKNOWN',
      message: expect.stringContaining('marker'),
    })
    return started
  })
  expect(await run.tree()).toMatchObject({
    failure: { code: 'AGENT_UNKNOWN', message: expect.stringContaining('marker') },
  })
  expect((await historyText(client, run.workflowId)).includes('marker')).toBe(false)
  const withoutKeys = createPtcClient({ client: clientOf(await connect()), taskQueue })
  await expect(withoutKeys.handle(run.workflowId).tree()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
})

test('workers with a plugin start at once with one key, and not with another key under the same id', async () => {
  const values = { store: { kind: 'local', directory: await temporaryFolder() } } as const
  const start = async (secret: Buffer) => {
    const plugin = await createPlugin({ values, encryption: { currentKeyId: 'k1', key: () => secret } })
    const connection = await connect({ plugins: [plugin] })
    const worker = await createWorker({ connection, taskQueue: uniqueName('queue') })
    await worker.runUntil(Promise.resolve())
  }
  await Promise.all([start(key), start(key)])
  await expect(start(randomBytes(32))).rejects.toMatchObject({
    code: 'DECRYPTION_FAILED',
    message: expect.stringContaining('the encryption key "k1" here is not the one that'),
  })
})

/** Adds a note to the metadata of each payload. */
const notingCodec: PayloadCodec = {
  encode: (payloads) =>
    Promise.resolve(
      payloads.map((payload): Payload => ({
        ...payload,
        metadata: { ...payload.metadata, note: Buffer.from('of the user') },
      })),
    ),
  decode: (payloads) => Promise.resolve(payloads),
}
