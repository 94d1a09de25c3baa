import { expect, it, vi } from 'vitest'
import type { ModelProvider, ModelRequest } from '../../../src/models/provider.js'
import { answerResult, call, turn } from '../../support/script.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'
import { isolateTests, startServer } from './harness.js'
import { chunk, done, refuse, startChatStream, usageChunk } from './openai-harness.js'

isolateTests()

/** A chat completions server that plays these replies, one for each request. */
function startChatServer(replies: readonly string[]) {
  return startServer((response) => {
    startChatStream(response)
    response.end(replies[server.requests.length - 1])
  }).then((started) => (server = started))
}

let server: Awaited<ReturnType<typeof startServer>>

const toolCall = (index: number, name: string, args: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: args },
})

it('a run with a compatible server has code, calls and invalid arguments, and usage without a cost', async () => {
  vi.stubEnv('LOCAL_KEY', 'key-of-the-server')
  let pings = 0
  const calls = [
    toolCall(0, 'execute_code', JSON.stringify({ code: 'print(await ping() + 1)' })),
    toolCall(1, 'ping', '{}'),
    toolCall(2, 'ping', '{"count": 1'),
    toolCall(3, 'execute_code', '{"code": "print('),
  ]
  const { url, requests } = await startChatServer([
    chunk({ reasoning_content: 'Both.' }) + chunk({ tool_calls: calls }) + chunk({}, 'tool_calls') + usageChunk + done,
    chunk({ content: 'It is 2.' }) + chunk({}, 'stop') + usageChunk + done,
  ])
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => (pings += 1))],
    providers: { local: { kind: 'openai', baseURL: `${url}/v1`, apiKey: { environment: 'LOCAL_KEY' } } },
  })
  const result = await env.runAgent({ model: 'local/org/model-1' })
  expect(result).toEqual({
    status: 'answered',
    answer: 'It is 2.',
    turns: 2,
    cells: 1,
    toolCalls: 2,
    usage: { inputTokens: 400, outputTokens: 40, cacheReadTokens: 2_048, cacheWriteTokens: 152 },
    costUsd: null,
  })
  expect(pings).toBe(2)
  expect(env.api.requests).toEqual([])
  const [, second] = requests
  expect(second?.headers.authorization).toBe('Bearer key-of-the-server')
  const sent = (second?.body['messages'] ?? []) as readonly {
    readonly tool_calls: readonly { readonly id: string }[]
  }[]
  const [, , reply] = sent
  const ids = reply?.tool_calls.map(({ id }) => id) ?? []
  expect(second?.body).toMatchObject({
    model: 'org/model-1',
    messages: [
      { role: 'system', content: expect.stringContaining('## execute_code') as string },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, reasoning_content: 'Both.', tool_calls: [{}, {}, {}, {}] },
      { role: 'tool', tool_call_id: ids[0], content: expect.stringMatching(/^[23]\s*$/) as string },
      { role: 'tool', tool_call_id: ids[1], content: expect.stringMatching(/^[12]$/) as string },
      { role: 'tool', tool_call_id: ids[2], content: expect.stringContaining('not a JSON object') as string },
      { role: 'tool', tool_call_id: ids[3], content: expect.stringContaining('not a JSON object') as string },
    ],
  })
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(tree.model).toBe('org/model-1')
})

it('a run with a provider of the user starts with its model, and another run chooses another provider', async () => {
  const requests: ModelRequest[] = []
  const echo: ModelProvider = {
    turn: (request) => {
      requests.push(request)
      const usage = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
      const content = [{ type: 'text', text: 'mine' }] as const
      return Promise.resolve({ model: 'm', content, stopReason: 'end_turn', usage, costUsd: 0.5, requestId: null })
    },
    close: () => Promise.resolve(),
  }
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    providers: { echo },
    model: { name: 'echo/small' },
    script: [turn(call('ping')), answerResult],
  })
  expect(await env.runAgent()).toMatchObject({ answer: 'mine', costUsd: 0.5, usage: { inputTokens: 5 } })
  expect(requests).toMatchObject([{ model: 'small', maxTokens: 8_192 }])
  expect(await env.runAgent({ model: 'claude-sonnet-5-5' })).toMatchObject({ answer: 'pong' })
  expect(requests).toHaveLength(1)
})

it('a fallback answers when a model fails, and the run keeps it over continue-as-new', async () => {
  const failing = await startServer((response) => {
    refuse(response, failing.requests.length < 3 ? 503 : 429, { error: { message: 'Busy.' } })
  })
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    providers: { local: { kind: 'openai', baseURL: failing.url } },
    limits: { historyEvents: 100 },
    script: [turn(...Array.from({ length: 40 }, () => call('ping'))), turn(call('ping')), answerResult],
  })
  const result = await env.runAgent({ model: ['local/large', 'claude-sonnet-5-5'] })
  expect(result).toMatchObject({ status: 'answered', answer: 'pong', turns: 3, costUsd: expect.any(Number) as number })
  expect((await env.executionHistories()).length).toBeGreaterThan(1)
  expect(failing.requests).toHaveLength(3)
  const asked = (await env.chainActivities()).filter(({ type }) => type === 'model.turn')
  expect(asked.map(({ summary }) => summary)).toEqual([
    'model turn 1',
    'model turn 1 · anthropic/claude-sonnet-5-5',
    expect.stringMatching(/^model turn 2 · .* in$/),
    expect.stringMatching(/^model turn 3 · .* in$/),
  ])
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(tree.turns.map(({ number, model }) => [number, model])).toMatchObject(
    [1, 2, 3].map((number) => [number, { status: 'ok', model: 'claude-sonnet-5-5' }]),
  )
})

it('a model without a key is not tried again, and the last failure of all models fails the run', async () => {
  const env = await TestEnvironment.start({
    providers: { local: { kind: 'openai', apiKey: { environment: 'NOT_SET' } } },
    script: [turn(call('ping'))],
  })
  const handle = await env.startAgent({ model: ['local/a', 'local/b'] })
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({
    code: 'MODEL_AUTH',
    message: expect.stringContaining('NOT_SET is not set') as string,
  })
  expect((await env.activities()).map(({ type }) => type)).toEqual(['run.config', 'model.turn', 'model.turn'])
})
