import { describe, expect, it } from 'vitest'
import type { ScriptedBlock } from '../../src/testing/index.js'
import { answerResult, call, code, text, turn } from '../support/script.js'
import { messagesOf, Stack } from '../support/stack.js'
import { tool } from '../support/tools.js'

const stopped = (stop_reason: string, ...content: readonly ScriptedBlock[]) => ({ reply: { content, stop_reason } })

it('F26: blocks the loop does not know are sent back as they came', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm, "so" \u{1F600} \\u0000', signature: 'c2lnbmF0dXJl+/==' }
  const invented = { type: 'mood_of_tomorrow', value: [1, null, { deep: { er: 1e21, last: -0.5 } }], empty: '' }
  const stack = await Stack.start({
    tools: [tool('ping', () => 'pong')],
    script: [turn(thinking, invented, text('I call.'), call('ping')), answerResult],
  })
  expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'pong' })
  const [, assistant] = messagesOf(stack.api.requests.at(-1)?.body)
  const blocks = assistant?.content as readonly unknown[]
  expect(blocks.slice(0, 3).map((block) => JSON.stringify(block))).toEqual(
    [thinking, invented, text('I call.')].map((block) => JSON.stringify(block)),
  )
})

describe('max_tokens', () => {
  const half = { type: 'tool_use' as const, name: 'execute_code', partial_json: '{"code": "await ping()\\nprint(' }

  it('F27: inside code runs nothing of it, and asks again with twice the room', async () => {
    let runs = 0
    const stack = await Stack.start({
      tools: [tool('ping', () => (runs += 1))],
      model: { maxTokens: 1_000 },
      script: [stopped('max_tokens', half)],
    })
    expect(await stack.ask()).toMatchObject({ status: 'truncated', turns: 2, cells: 0, toolCalls: 0 })
    const asked = stack.api.requests.map(({ body }) => (body as { readonly max_tokens: number }).max_tokens)
    expect(asked).toEqual([1_000, 2_000])
    expect(runs).toBe(0)
  })

  it('F27: with a whole call in the reply does not run that either, and keeps the text for the answer', async () => {
    const stack = await Stack.start({
      tools: [tool('ping', () => 'pong')],
      script: [stopped('max_tokens', text('I will'), call('ping'))],
    })
    expect(await stack.ask()).toMatchObject({ status: 'truncated', answer: 'I will', toolCalls: 0 })
  })
})

it('F27: pause_turn keeps the reply and asks the model to go on', async () => {
  const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
  const stack = await Stack.start({ script: [stopped('pause_turn', server), turn(text('found'))] })
  expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'found', turns: 2 })
  expect(messagesOf(stack.api.requests.at(-1)?.body)).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
})

it('F27: a refusal ends the run, typed', async () => {
  const stack = await Stack.start({ script: [stopped('refusal', text('I would rather not.'))] })
  expect(await stack.ask()).toMatchObject({ status: 'refused', answer: 'I would rather not.', turns: 1 })
})

describe('empty content', () => {
  it('F27: is met with one nudge, after which the run goes on', async () => {
    const stack = await Stack.start({
      script: [
        { reply: { content: [] }, match: { lastUserText: { equals: 'go' } } },
        { reply: { content: [text('here')] }, match: { lastUserText: 'Your last reply was empty' } },
        turn(text('unused')),
      ],
    })
    expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'here', turns: 2 })
  })

  it('F27: after tool results puts the nudge behind them', async () => {
    const stack = await Stack.start({
      tools: [tool('ping', () => 'pong')],
      script: [
        { reply: { content: [text('done')] }, match: { lastUserText: 'Your last reply was empty' } },
        turn(call('ping')),
        turn(),
      ],
    })
    expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'done', turns: 3 })
    expect(stack.lastUserContent()).toMatchObject([{ type: 'tool_result' }, { type: 'text' }])
  })

  it('F27: twice ends the run without an answer, typed', async () => {
    const stack = await Stack.start({ script: [turn()] })
    expect(await stack.ask()).toMatchObject({ status: 'no_answer', answer: '', turns: 2 })
  })
})

it('the turn limit ends the run with what it has, typed', async () => {
  const { reply } = turn(text('still counting'), code('n = globals().get("n", 0) + 1\nprint(n)'))
  const stack = await Stack.start({
    limits: { turns: 3 },
    script: [{ reply, match: { lastToolResult: { pattern: '.' } } }, { reply }],
  })
  expect(await stack.ask()).toMatchObject({ status: 'turn_limit', answer: 'still counting', turns: 3, cells: 3 })
  expect(stack.api.requests).toHaveLength(3)
})

it('F24: a conversation that no longer fits the model ends the run with what it has, typed', async () => {
  const stack = await Stack.start({
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
  expect(await stack.ask()).toMatchObject({ status: 'context_full', answer: 'I read.', turns: 2 })
})
