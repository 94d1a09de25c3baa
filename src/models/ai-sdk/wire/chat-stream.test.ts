import { describe, expect, it } from 'vitest'
import { chatReply as finish, stubbedTurn } from '../../../../test/support/models/stubbed-turn.js'
import { isToolUseBlock } from '../../../common/agent/messages.js'

const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})

/** The tool uses of the calls of these deltas, each in a chunk of its own. */
async function usesOf(...calls: readonly object[]) {
  const { content } = await finish(
    true,
    ...calls.map((call) => choice({ tool_calls: [call] })),
    choice({}, 'tool_calls'),
  )
  return content
    .filter(isToolUseBlock)
    .map(({ name, input, input_problem }) => ({ name, input, ...(input_problem && { input_problem }) }))
}

const pay = (args: unknown, more: object = {}) => ({ ...more, function: { name: 'pay', arguments: args } })
const toAda = { name: 'pay', input: { to: 'ada' } }
const toLin = { name: 'pay', input: { to: 'lin' } }
const ada = '{"to":"ada"}'
const lin = '{"to":"lin"}'

describe('one call', () => {
  it.each<[string, readonly object[]]>([
    ['is named again after its arguments', [pay(ada, { index: 0, id: 'x' }), pay('', { index: 0 })]],
    ['is named again with its id', [pay(ada, { index: 0, id: 'x' }), pay('', { index: 0, id: 'x' })]],
    ['is named again without arguments', [pay(ada, { index: 0 }), pay(null, { index: 0 })]],
    ['is named again with a blank', [pay(ada, { index: 0 }), pay(' \n', { index: 0 })]],
    ['is named with each piece', [pay('', { index: 0 }), pay('{"to":', { index: 0 }), pay('"ada"}', { index: 0 })]],
    ['has pieces without a number', [pay('{"to"', { id: 'x' }), { function: { arguments: ':"ada"}' } }]],
    ['has an object as arguments', [pay({ to: 'ada' }, { index: 0 })]],
  ])('%s', async (_what, calls) => {
    expect(await usesOf(...calls)).toEqual([toAda])
  })
})

describe('two calls', () => {
  it.each<[string, readonly object[]]>([
    ['with one id, and no number', [pay(ada, { id: 'x' }), pay(lin, { id: 'x' })]],
    ['with one id, both with number 0', [pay(ada, { index: 0, id: 'x' }), pay(lin, { index: 0, id: 'x' })]],
    ['with neither id nor number', [pay(ada), pay(lin)]],
    [
      'with one id, the second in pieces',
      [pay(ada, { id: 'x' }), pay('{"to":', { id: 'x' }), pay('"lin"}', { id: 'x' })],
    ],
    [
      'with texts as numbers, and in pieces that alternate',
      [
        pay('{"to":', { index: '0', id: 'x' }),
        pay('{"to":', { index: '1', id: 'x' }),
        { index: '0', function: { arguments: '"ada"}' } },
        { index: '1', function: { arguments: '"lin"}' } },
      ],
    ],
  ])('%s', async (_what, calls) => {
    expect(await usesOf(...calls)).toEqual([toAda, toLin])
  })

  it('of different tools may share an id and a number', async () => {
    const now = { index: 0, id: 'x', function: { name: 'now', arguments: '' } }
    expect(await usesOf(now, pay(ada, { index: 0, id: 'x' }))).toEqual([{ name: 'now', input: {} }, toAda])
  })
})

it('tells the model about arguments that are nested so deeply that nothing can write them', async () => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
  const call = `{"choices":[{"delta":{"tool_calls":[{"function":{"name":"pay","arguments":${deep}}}]}}]}`
  const turn = (event: string) => stubbedTurn({ baseURL: 'https://models.example' }, [event, '[DONE]'])
  const { reply } = await turn(call)
  expect(reply.content).toMatchObject([{ input_problem: expect.any(String) as string }])
  const odd = turn(`{"choices":[{"delta":{"odd":${deep}}}]}`)
  await expect(odd).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' })
})

const hello = [{ type: 'text', text: 'hello' }]

describe('a message in place of deltas', () => {
  const messages = (...said: readonly object[]) =>
    said.map((message) => ({ choices: [{ message, finish_reason: 'stop' }] }))

  it('is read', async () => {
    expect(await finish(true, ...messages({ role: 'assistant', content: 'hello' }))).toMatchObject({
      content: hello,
      stopReason: 'end_turn',
    })
    expect(await finish(true, ...messages({ content: 'he' }, { content: 'llo' }))).toMatchObject({ content: hello })
    expect(await finish(true, ...messages({ content: null, tool_calls: [pay(ada, { id: 'x' })] }))).toMatchObject({
      content: [toAda],
      stopReason: 'tool_use',
    })
    expect(await finish(true, choice({ role: 'assistant' }), ...messages({ content: 'hello' }))).toMatchObject({
      content: hello,
    })
  })

  it('adds nothing to the deltas that it repeats', async () => {
    expect(await finish(true, choice({ content: 'hello' }), ...messages({ content: 'hello' }))).toMatchObject({
      content: hello,
    })
    const [repeated] = messages({ tool_calls: [pay(ada, { id: 'x' })] })
    expect((await finish(true, choice({ tool_calls: [pay(ada, { id: 'x' })] }), repeated ?? {})).content).toMatchObject(
      [toAda],
    )
  })
})

describe('a function call', () => {
  const called = (...pieces: readonly unknown[]) =>
    finish(true, ...pieces.map((function_call) => choice({ function_call })), choice({}, 'function_call'))

  it('is a tool call, whole or in pieces', async () => {
    for (const pieces of [
      [{ name: 'pay', arguments: ada }],
      [{ name: 'pay', arguments: '' }, { arguments: '{"to":' }, { arguments: '"ada"}' }],
      [{ name: 'pay', arguments: { to: 'ada' } }],
    ])
      expect(await called(...pieces)).toMatchObject({ content: [toAda], stopReason: 'tool_use' })
  })

  it.each([null, {}, { name: '', arguments: '' }, { name: null, arguments: null }, 'pay'])(
    'that is %j calls nothing',
    async (none) => {
      expect((await called(none)).content).toEqual([])
    },
  )

  it('beside the same tool call is that call', async () => {
    const both = { tool_calls: [pay(ada, { index: 0, id: 'x' })], function_call: { name: 'pay', arguments: ada } }
    expect((await finish(true, choice(both, 'tool_calls'))).content).toMatchObject([toAda])
  })
})

describe('the end of a reply', () => {
  it.each([
    ['nothing', []],
    ['usage alone', [{ choices: [], usage: { prompt_tokens: 1 } }]],
    ['choices that are null', [{ choices: null }]],
    ['another choice alone', [{ choices: [{ index: 1, delta: { content: 'hello' }, finish_reason: 'stop' }] }]],
  ])('after %s is an invalid reply when the server says that it ends, and else a cut one', async (_what, chunks) => {
    await expect(finish(true, ...chunks)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' })
    await expect(finish(false, ...chunks)).rejects.toMatchObject({ code: 'MODEL_STREAM' })
  })

  it.each([
    ['model_length', 'max_tokens'],
    ['MAX_TOKENS', 'max_tokens'],
    ['sensitive', 'refusal'],
  ])('with the finish reason %s has the stop reason %s, and no partial input', async (reason, stopReason) => {
    const cut = choice({ content: 'The total of all invoi', tool_calls: [pay('{"to":"ad')] }, reason)
    expect(await finish(true, cut)).toMatchObject({
      stopReason,
      content: [{ type: 'text' }, { name: 'pay', input: {} }],
    })
  })

  it.each(['abort', 'network_error', 'error'])('with the finish reason %s is an error', async (reason) => {
    const broken = finish(true, choice({ content: 'The total of all invoi' }, reason))
    await expect(broken).rejects.toMatchObject({ code: 'MODEL_SERVER' })
  })
})
