import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/common/json/json.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, faulty, text, turn } from '../../support/script.js'
import { tool } from '../../support/tools.js'
import { isolateTests, startServer } from './harness.js'
import { chunk, done, refuse, startChatStream, usageChunk } from './openai-harness.js'

isolateTests()

const thinking = { type: 'thinking', thinking: 'Hm, "so" \u{1F600} \\u0000', signature: 'c2lnbmF0dXJl+/==' }
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl+/==' }
const omitted = { type: 'thinking', thinking: '', signature: 'b25seSBhIHNpZ25hdHVyZQ==' }

interface SentBody extends JsonObject {
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
}

/** The content of the assistant messages of a request. */
const repliesIn = (body: unknown) =>
  (body as SentBody).messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)

it('sends the settings of a run with each turn, and thinking back unchanged, over continue-as-new', async () => {
  const calls = Array.from({ length: 40 }, () => call('ping'))
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    limits: { historyEvents: 100 },
    script: [turn(thinking, redacted, ...calls), turn(omitted, call('ping')), answerResult],
  })
  const input = { thinking: { budgetTokens: 2_000 }, effort: 'high' } as const
  expect(await env.runAgent(input)).toMatchObject({ status: 'answered', answer: 'pong', turns: 3 })
  expect((await env.executionHistories()).length).toBeGreaterThan(1)
  expect(env.api.requests).toHaveLength(3)
  for (const { body } of env.api.requests) {
    expect(body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      output_config: { effort: 'high' },
    })
  }
  const [first, second] = repliesIn(env.api.requests[2]?.body)
  expect(JSON.stringify(first?.slice(0, 2))).toBe(JSON.stringify([thinking, redacted]))
  expect(JSON.stringify(second?.[0])).toBe(JSON.stringify(omitted))
})

it('leaves thinking out for a provider of another format, and sends it to its own provider again', async () => {
  const toolCall = { index: 0, id: 'call_1', type: 'function', function: { name: 'ping', arguments: '{}' } }
  const server = await startServer((response) => {
    if (server.requests.length > 1) return refuse(response, 400, { error: { message: 'Not again.' } })
    startChatStream(response)
    response.end(chunk({ tool_calls: [toolCall] }) + chunk({}, 'tool_calls') + usageChunk + done)
  })
  const refused = { type: 'status', status: 400, attempt: 1 } as const
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    providers: { local: { kind: 'openai', baseURL: server.url } },
    script: [turn(thinking, redacted, call('ping')), faulty([refused], turn(text('unused'))), answerResult],
  })
  const result = await env.runAgent({ model: ['claude-sonnet-5-5', 'local/m'], thinking: 'off', effort: 'low' })
  expect(result).toMatchObject({ status: 'answered', answer: 'pong', turns: 3 })
  const asked = server.requests.map(({ body }) => body)
  expect(asked[0]).toMatchObject({ reasoning_effort: 'none' })
  expect(JSON.stringify(asked[0])).not.toMatch(/thinking|c2ln|b3Bh/)
  const [first, second] = repliesIn(env.api.requests.at(-1)?.body)
  expect(JSON.stringify(first?.slice(0, 2))).toBe(JSON.stringify([thinking, redacted]))
  expect(second?.map(({ type }) => type)).toEqual(['tool_use'])
})
