import { expect, test } from 'vitest'
import { createClient, validRequest, post, textTurn, startServer } from './support.js'

test('attempts are counted for each state of a conversation', async () => {
  const faults = [{ type: 'status', attempt: [1, 2], status: 529 }] as const
  const server = await startServer({ script: [{ ...textTurn('Hi'), faults }] })
  const client = createClient(server)

  await expect(client.messages.create(validRequest)).rejects.toThrow('Overloaded')
  await expect(client.messages.create(validRequest)).rejects.toThrow('Overloaded')
  await client.messages.create(validRequest)

  expect(server.requests.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [1, 'faulted'],
    [2, 'faulted'],
    [3, 'answered'],
  ])
  expect(new Set(server.requests.map(({ conversation }) => conversation)).size).toBe(1)
})

test('a moved cache mark does not change the conversation, but another user does', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })
  const marked = [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }]

  await post(server, validRequest)
  await post(server, { ...validRequest, messages: [{ role: 'user', content: marked }] })
  await post(server, { ...validRequest, metadata: { user_id: 'run-2' } })

  expect(server.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 1])
})

test('concurrent runs get the turns of their own conversations', async () => {
  const conversations = Array.from({ length: 20 }, (_, run) => ({
    match: { firstUserText: { equals: `run ${run}` } },
    turns: [textTurn(`first of ${run}`), textTurn(`second of ${run}`)],
  }))
  const server = await startServer({ script: { conversations } })
  const client = createClient(server)

  const texts = await Promise.all(
    conversations.map(async (_, run) => {
      const ask = { role: 'user' as const, content: `run ${run}` }
      const first = await client.messages.stream({ ...validRequest, messages: [ask] }).finalText()
      const messages = [ask, { role: 'assistant' as const, content: first }, { role: 'user' as const, content: 'More' }]
      return [first, await client.messages.stream({ ...validRequest, messages }).finalText()]
    }),
  )

  expect(texts).toEqual(conversations.map((_, run) => [`first of ${run}`, `second of ${run}`]))
  expect(server.requests.every(({ attempt }) => attempt === 1)).toBe(true)
})

test('bodies and headers are recorded without credentials', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })

  await createClient(server, 'sk-secret').messages.create(validRequest)
  await post(server, 'no JSON')

  const [good, bad] = server.requests
  expect(good).toMatchObject({
    number: 1,
    method: 'POST',
    path: '/v1/messages',
    body: validRequest,
    assistantMessages: 0,
    outcome: 'answered',
    error: null,
  })
  expect(good?.headers).toMatchObject({ authorization: 'redacted', 'anthropic-version': '2026-10-21' })
  expect(bad?.headers).toMatchObject({ 'x-api-key': 'redacted' })
  expect(bad).toMatchObject({ body: 'no JSON', conversation: null, attempt: null, outcome: 'rejected' })
  expect(bad?.error?.message).toMatch(/^The request body is not valid JSON/)
  expect(JSON.stringify(server.requests)).not.toContain('sk-secret')
})

test('a test can wait for a request, and cancel the wait', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })
  const waiting = server.waitForRequest(({ outcome }) => outcome === 'answered')

  await post(server, validRequest)

  expect((await waiting).number).toBe(1)
  await expect(server.waitForRequest(({ number }) => number === 2, AbortSignal.timeout(10))).rejects.toThrow()
})

test('a conversation that is not in the script is refused with the reason', async () => {
  const server = await startServer({
    script: { conversations: [{ match: { firstUserText: 'Who' }, turns: [textTurn('Me')] }] },
  })

  const response = await post(server, validRequest)

  expect(response.status).toBe(400)
  expect(await response.text()).toContain('no conversation of the script is for one that begins with \\"Hello\\"')
})
