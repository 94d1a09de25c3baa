import { describe, expect, it } from 'vitest'
import { type AssistantBlock, isToolUseBlock, type ModelReply, type ToolUseBlock } from '../../common/agent/messages.js'
import { acceptReply } from './accept-reply.js'
import type { ModelRequest } from '../provider.js'
import { toSendableRequest } from '../request/sendable-request.js'

const request: ModelRequest = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }

/** Accepts the reply of a provider, which may be the user's own. */
function accept(members: object, asked: Partial<ModelRequest> = {}): ModelReply {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 }
  const reply = { model: 'n', content: [], stopReason: 'end_turn', usage, costUsd: null, requestId: null, ...members }
  return acceptReply(reply, { ...request, ...asked })
}

const usesIn = ({ content }: ModelReply): readonly ToolUseBlock[] => content.filter(isToolUseBlock)
const use = (id: unknown, input: unknown = {}, more = {}) => ({ type: 'tool_use', id, name: 'pay', input, ...more })

describe('ids of tool uses', () => {
  it("ids of tool uses are the engine's own, for any id of the provider", () => {
    const ids = ['toolu_1', 'toolu_1', '', '__proto__', 'constructor', 'call_0', 'x'.repeat(500), 'é\ud83d', 7, null]
    const found = usesIn(accept({ content: ids.map((id) => use(id)) })).map(({ id }) => id)
    expect(new Set(found).size).toBe(ids.length)
    for (const id of found) expect(id).toMatch(/^[A-Za-z0-9]{9}$/)
  })

  it('ids of tool uses differ from one reply to the next', () => {
    const idOf = () => usesIn(accept({ content: [use('call_0')] }))[0]?.id
    expect(idOf()).not.toBe(idOf())
  })

  it('ids of calls of hosted code stay those of the provider, if they are unique and harmless', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const ids = ['toolu_a', 'toolu_a', '__proto__', 'toString', 'toolu_b']
    const content = [...ids.map((id) => use(id, {}, { caller })), use('toolu_c', {}, { caller: { type: 'direct' } })]
    const found = usesIn(accept({ content }, { hostedCode: {} }))
    expect(found.map(({ id }) => (/^[A-Za-z0-9]{9}$/.test(id) ? 'own' : id))).toEqual([
      'toolu_a',
      'own',
      'own',
      'own',
      'toolu_b',
      'own',
    ])
    expect(found[0]?.caller).toEqual(caller)
    // Without hosted code, only the model calls.
    expect(usesIn(accept({ content }))[0]).not.toHaveProperty('caller')
  })
})

describe('inputs of tool uses', () => {
  it.each([[[1]], ['[1]'], ['text'], [5], [true]])(
    'reports to the model an input of a tool use that is not an object: %j',
    (input) => {
      const [found] = usesIn(accept({ content: [use('a', input)] }))
      expect(found?.input).toEqual({ invalid_json: typeof input === 'string' ? input : JSON.stringify(input) })
      expect(found?.input_problem).toContain('pay are not a JSON object')
    },
  )

  it('the input of a tool use may be missing', () => {
    for (const input of [null, undefined, {}]) {
      expect(usesIn(accept({ content: [{ ...use('a'), input }] }))[0]).toMatchObject({ input: {} })
      expect(usesIn(accept({ content: [{ ...use('a'), input }] }))[0]).not.toHaveProperty('input_problem')
    }
  })

  it('does not use inputs of tool uses whose nesting is too deep to write', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as object
    const [found] = usesIn(accept({ content: [use('a', deep)] }))
    expect(found).toMatchObject({ input: {}, input_problem: expect.stringContaining('nested') as string })
  })

  it('inputs of tool uses in a truncated reply are empty', () => {
    const [found] = usesIn(accept({ stopReason: 'max_tokens', content: [use('a', '{"to": ')] }))
    expect(found).toMatchObject({ input: {} })
    expect(found).not.toHaveProperty('input_problem')
  })
})

it('keeps other blocks of a reply unchanged', () => {
  const content: readonly AssistantBlock[] = [
    { type: 'thinking', thinking: 'hm', signature: 's==' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [null, 1.5] },
    { type: 'dream', of: { sheep: 'electric' } },
  ]
  expect(accept({ content }).content).toEqual(content)
})

it('makes the texts of a reply well-formed, and shortens names of tools', () => {
  const content = [
    { type: 'text', text: 'a \ud83d b' },
    { ...use('a', { '\udc00': ['\ud83d'] }), name: 'é😀'.repeat(1_000) },
    { ...use('b'), name: null },
    { type: 'text', text: null },
  ]
  const { content: found } = accept({ content, model: null })
  expect(found).toHaveLength(3)
  expect(JSON.stringify(found)).not.toMatch(/\\ud/i)
  expect(found[0]).toEqual({ type: 'text', text: 'a \ufffd b' })
  expect(found[1]).toMatchObject({ input: { '\ufffd': ['\ufffd'] } })
  expect((found[1] as ToolUseBlock).name.length).toBeLessThanOrEqual(200)
  expect(found[2]).toMatchObject({ name: '' })
})

it.each([
  [null, [0, 0, 0, 0]],
  ['many', [0, 0, 0, 0]],
  [{ inputTokens: '12', outputTokens: 1.9, cacheReadTokens: -5, cacheWriteTokens: null }, [12, 1, 0, 0]],
  [{ inputTokens: Infinity, outputTokens: Number.NaN, cacheReadTokens: {}, cacheWriteTokens: '' }, [0, 0, 0, 0]],
])('counts only the numbers of the usage %j', (usage, expected) => {
  expect(Object.values(accept({ usage }).usage)).toEqual(expected)
})

it('a reply needs neither a stop reason nor a cost', () => {
  expect(accept({ stopReason: null, costUsd: -1, model: '' })).toMatchObject({
    stopReason: 'end_turn',
    costUsd: null,
    model: 'm',
  })
  expect(accept({ stopReason: undefined, content: [use('a')] }).stopReason).toBe('tool_use')
  expect(accept({ stopSequence: 'END' })).toMatchObject({ stopSequence: 'END' })
  expect(accept({ stopSequence: 7 })).not.toHaveProperty('stopSequence')
})

it.each([
  ['length', 'max_tokens'],
  ['content-filter', 'refusal'],
  ['stop', 'end_turn'],
  ['something_new', 'something_new'],
  ['', 'end_turn'],
])('takes the stop reason %j of a provider for %s', (stopReason, expected) => {
  expect(accept({ stopReason, content: [{ type: 'text', text: 'The total of all invoi' }] })).toMatchObject({
    stopReason: expected,
  })
})

it('is an error when the server has broken the reply off, and has no partial input when it is cut', () => {
  expect(() => accept({ stopReason: 'abort', content: [use('a')] })).toThrow(
    expect.objectContaining({ code: 'MODEL_SERVER' }),
  )
  const [found] = usesIn(accept({ stopReason: 'length', content: [use('a', '{"to": ')] }))
  expect(found).toMatchObject({ input: {} })
  expect(found).not.toHaveProperty('input_problem')
})

it.each([[null], ['text'], [[null]], [[{ text: 'x' }]], [['x']]])('refuses the content %j', (content) => {
  expect(() => accept({ content })).toThrow(expect.objectContaining({ code: 'MODEL_REPLY_INVALID' }))
})

it('keeps the stop sequence of a reply', () => {
  expect(accept({ stopReason: 'stop_sequence', stopSequence: 'END' })).toMatchObject({ stopSequence: 'END' })
  expect(accept({ stopSequence: null })).not.toHaveProperty('stopSequence')
})

it('refuses blocks of a reply whose nesting is too deep to write', () => {
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown
  for (const block of [{ type: 'dream', deep }, { type: 'text', text: 'x', deep }, use('a', {}, { deep })])
    expect(() => accept({ content: [block] })).toThrow(expect.objectContaining({ code: 'MODEL_REPLY_INVALID' }))
  expect(usesIn(accept({ content: [use('a', { deep }, { input_problem: 'x' })] }))).toMatchObject([{ input: {} }])
  expect(accept({ contextEdits: [{ deep }, { type: 'kept' }] }).contextEdits).toEqual([{ type: 'kept' }])
})

it("gives tool uses of a reply the engine's names of tools", () => {
  const tools = ['math.factorial', 'math_factorial', 'pay'].map((name) => ({
    name,
    description: '',
    inputSchema: {},
    inputExamples: [],
  }))
  const sent = toSendableRequest({ ...request, tools }).tools.map(({ name }) => name)
  expect(sent).toEqual([expect.stringMatching(/^math_factorial_[a-zA-Z0-9]{9}$/), 'math_factorial', 'pay'])
  const content = [...sent, 'math.factorial', 'rm.all', '__proto__'].map((name) => ({ ...use('a'), name }))
  expect(usesIn(accept({ content }, { tools })).map(({ name }) => name)).toEqual([
    'math.factorial',
    'math_factorial',
    'pay',
    'math.factorial',
    'rm.all',
    '__proto__',
  ])
})
