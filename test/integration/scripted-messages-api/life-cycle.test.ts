import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { createClient, validRequest, textTurn, startServer } from './support.js'

test('closing the scripted server ends stalled responses and idle connections, and is idempotent', async () => {
  const faults = [{ type: 'stall', attempt: 1, at: { insideBlock: 0 } }] as const
  const server = await startScriptedMessagesApi({ script: [{ ...textTurn('Hello there'), faults }] })
  const { port } = new URL(server.url)
  const idle = connect(Number(port), '127.0.0.1')
  await once(idle, 'connect')
  const idleClosed = once(idle, 'close')
  const stalled = createClient(server)
    .messages.stream(validRequest)
    .finalMessage()
    .catch((caught: unknown) => caught)
  await server.waitForRequest(({ attempt }) => attempt === 1)

  await Promise.all([server.close(), server.close()])
  await server.close()

  expect(await stalled).toBeInstanceOf(Error)
  await idleClosed
  await expect(fetch(server.url)).rejects.toThrow()
})

test('closing the scripted server ends a delay', async () => {
  const faults = [{ type: 'delay', attempt: 1, ms: 3_000_000 }] as const
  const server = await startScriptedMessagesApi({ script: [{ ...textTurn('Hi'), faults }] })
  const delayed = createClient(server)
    .messages.create(validRequest)
    .catch((caught: unknown) => caught)
  await server.waitForRequest(({ attempt }) => attempt === 1)

  await server.close()

  expect(await delayed).toBeInstanceOf(Error)
})

test('the server is closed at the end of its scope', async () => {
  let url: string
  {
    await using server = await startScriptedMessagesApi({ script: [textTurn('Hi')] })
    url = server.url
  }
  await expect(fetch(url)).rejects.toThrow()
})

test('a client that disconnects during a response is recorded', async () => {
  const server = await startServer({ script: [{ ...textTurn('Hello there'), msPerChunk: 50 }] })
  const stream = createClient(server).messages.stream(validRequest)
  const ended = stream.finalMessage().catch((caught: unknown) => caught)
  await server.waitForRequest(({ attempt }) => attempt === 1)

  stream.abort()

  await ended
  await server.waitForRequest(({ outcome }) => outcome === 'abandoned')
})

test('a port in use is an error with its address', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })
  const port = Number(new URL(server.url).port)

  await expect(startScriptedMessagesApi({ script: [textTurn('Hi')], port })).rejects.toThrow(
    `the Messages API server can't listen on 127.0.0.1:${port}`,
  )
})

const wrongOptions: readonly (readonly [options: object, message: string])[] = [
  [{ port: 70_000 }, 'port: '],
  [{ apiKey: '' }, 'apiKey: '],
  [{ models: [] }, 'models: '],
  [{ contextTokens: 0 }, 'contextTokens: '],
  [{ prot: 1 }, 'options: Unrecognized key: "prot"'],
]

test.each(wrongOptions)('the scripted server refuses the option %o', async (options, message) => {
  const all = { script: [textTurn('Hi')], ...options } as Parameters<typeof startScriptedMessagesApi>[0]
  await expect(startScriptedMessagesApi(all)).rejects.toThrowError(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  )
})
