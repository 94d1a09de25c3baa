import { describe, expect, it } from 'vitest'
import type { ScriptedBlock } from '../../../../src/testing/scripted-messages-api/script/script.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

const replyWithStopReason = (stop_reason: string, ...content: readonly ScriptedBlock[]) => ({
  reply: { content, stop_reason },
})

it('F26: unknown blocks are sent back unchanged', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm, "so" \u{1F600} \\u0000', signature: 'c2lnbmF0dXJl+/==' }
  const invented = { type: 'mood_of_tomorrow', value: [1, null, { deep: { er: 1e21, last: -0.5 } }], empty: '' }
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    script: [turn(thinking, invented, text('I call.'), call('ping')), answerResult],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'pong' })
  const [, assistant] = requestMessages(env.api.requests.at(-1)?.body)
  const blocks = assistant?.content as readonly unknown[]
  expect(blocks.slice(0, 3).map((block) => JSON.stringify(block))).toEqual(
    [thinking, invented, text('I call.')].map((block) => JSON.stringify(block)),
  )
})

describe('max_tokens', () => {
  // The scripted API cuts a reply at the limit of the request.
  it.each([
    ['text', [turn(text('word '.repeat(1_000)))], 'word '.repeat(1_000)],
    ['code', [turn(code(`print("ok")  # ${'x'.repeat(5_000)}`)), answerResult], 'ok'],
  ] as const)(
    'F27: max_tokens in the middle of %s is recovered by twice the token limit',
    async (_what, script, answer) => {
      const env = await TestEnvironment.start({ model: { maxTokens: 1_000 }, script })
      const result = await env.runAgent()
      expect(result).toMatchObject({ status: 'answered', turns: script.length + 1 })
      expect(result.answer.trim()).toBe(answer.trim())
      const activities = (await env.activities()).filter(({ type }) => type === 'model.turn')
      expect(activities).toHaveLength(script.length + 1)
    },
  )

  const truncatedToolUse = {
    type: 'tool_use' as const,
    name: 'execute_code',
    partial_json: '{"code": "await ping()\\nprint(',
  }

  it('F27: max_tokens inside code runs none of it, and repeats the request with twice the limit', async () => {
    let runs = 0
    const env = await TestEnvironment.start({
      tools: [tool('ping', () => (runs += 1))],
      model: { maxTokens: 1_000 },
      script: [replyWithStopReason('max_tokens', truncatedToolUse)],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'truncated', turns: 2, cells: 0, toolCalls: 0 })
    const tokenLimits = env.api.requests.map(({ body }) => (body as { readonly max_tokens: number }).max_tokens)
    expect(tokenLimits).toEqual([1_000, 2_000])
    expect(runs).toBe(0)
  })

  it('F27: max_tokens runs no complete calls of the truncated reply either, and keeps its text', async () => {
    const env = await TestEnvironment.start({
      tools: [tool('ping', () => 'pong')],
      script: [replyWithStopReason('max_tokens', text('I will'), call('ping'))],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'truncated', answer: 'I will', toolCalls: 0 })
  })
})

it('F27: pause_turn keeps the reply and continues the turn', async () => {
  const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
  const env = await TestEnvironment.start({ script: [replyWithStopReason('pause_turn', server), turn(text('found'))] })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'found', turns: 2 })
  expect(requestMessages(env.api.requests.at(-1)?.body)).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
})

it('F27: a refusal ends the run with a typed status', async () => {
  const env = await TestEnvironment.start({ script: [replyWithStopReason('refusal', text('I would rather not.'))] })
  expect(await env.runAgent()).toMatchObject({ status: 'refused', answer: 'I would rather not.', turns: 1 })
})

describe('empty content', () => {
  it('F27: an empty reply prompts the model once more, and the run continues', async () => {
    const env = await TestEnvironment.start({
      script: [
        { reply: { content: [] }, match: { lastUserText: { equals: 'go' } } },
        { reply: { content: [text('here')] }, match: { lastUserText: 'Your last reply was empty' } },
        turn(text('unused')),
      ],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'here', turns: 2 })
  })

  it('F27: an empty reply after tool results adds the prompt after them', async () => {
    const env = await TestEnvironment.start({
      tools: [tool('ping', () => 'pong')],
      script: [
        { reply: { content: [text('done')] }, match: { lastUserText: 'Your last reply was empty' } },
        turn(call('ping')),
        turn(),
      ],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'done', turns: 3 })
    expect(env.lastUserContent()).toMatchObject([{ type: 'tool_result' }, { type: 'text' }])
  })

  it('F27: a second empty reply ends the run without an answer and with a typed status', async () => {
    const env = await TestEnvironment.start({ script: [turn()] })
    expect(await env.runAgent()).toMatchObject({ status: 'no_answer', answer: '', turns: 2 })
  })
})

it('the turn limit ends the run with its partial answer and a typed status', async () => {
  const { reply } = turn(text('still counting'), code('n = globals().get("n", 0) + 1\nprint(n)'))
  const env = await TestEnvironment.start({
    limits: { turns: 3 },
    script: [{ reply, match: { lastToolResult: { pattern: '.' } } }, { reply }],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'turn_limit', answer: 'still counting', turns: 3, cells: 3 })
  expect(env.api.requests).toHaveLength(3)
})

it('F24: a conversation over the context window ends the run with its partial answer and a typed status', async () => {
  const env = await TestEnvironment.start({
    tools: [tool('book', () => 'word '.repeat(3_800))],
    script: [
      turn(text('I read.'), call('book')),
      {
        ...turn(text('never')),
        faults: [
          {
            type: 'status',
            attempt: 'every',
            status: 400,
            error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
          },
        ],
      },
    ],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'context_full', answer: 'I read.', turns: 2 })
})
