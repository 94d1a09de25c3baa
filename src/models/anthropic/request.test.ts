import { describe, expect, it } from 'vitest'
import type { Message } from '../../common/agent/messages.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { toParams as toParamsWith } from './request.js'

const text = (role: 'user' | 'assistant', said: string): Message => ({ role, content: [{ type: 'text', text: said }] })
const tool = (name: string): ModelTool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  inputExamples: [],
})
const base: ModelRequest = { model: 'm', maxTokens: 10, system: 'Be brief.', tools: [], messages: [] }

const toParams = (request: ModelRequest) =>
  toParamsWith(request, { hasInputExamples: true, hasToolSearch: true, hasNativeTools: true })

/** Paths of the cache breakpoints. */
function breakpoints(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.entries(value).flatMap(([key, member]) => breakpoints(member, `${path}/${key}`))
  return 'cache_control' in value ? [path, ...inside] : inside
}

describe('toParams', () => {
  it('leaves out blocks that only another provider of the conversation knows', () => {
    const use = { type: 'tool_use', id: 'aB3dE6gH9', name: 'add', input: {}, input_problem: 'no JSON' } as const
    const { messages } = toParams({
      ...base,
      messages: [
        text('user', 'a'),
        { role: 'assistant', content: [{ type: 'ai_sdk_message', provider: 'local' }, use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'x' }] },
      ],
    })
    expect(messages.slice(1)).toMatchObject([
      { content: [{ type: 'tool_use', id: use.id, name: 'add', input: {} }] },
      { content: [{ type: 'tool_result', tool_use_id: use.id }] },
    ])
    expect(JSON.stringify(messages)).not.toMatch(/input_problem|ai_sdk/)
  })

  it.each([
    [{ thinking: 'adaptive' }, { thinking: { type: 'adaptive' } }],
    [
      { thinking: 'off', temperature: 0 },
      { thinking: { type: 'disabled' }, temperature: 0 },
    ],
    [{ thinking: { budgetTokens: 2_000 } }, { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
    [{ effort: 'max' }, { output_config: { effort: 'max' } }],
    [{}, {}],
  ] as const)('sends the model settings %j as %j', (settings, sent) => {
    expect(toParams({ ...base, system: '', ...settings })).toEqual({
      model: 'm',
      max_tokens: 10,
      stream: true,
      messages: [],
      ...sent,
    })
  })

  it.each([
    ['begins with thinking', [{ type: 'thinking', thinking: 'hm', signature: 's' }], true],
    ['begins with redacted thinking', [{ type: 'redacted_thinking', data: 'd' }], true],
    ['has none', [], false],
  ])('sends a thinking budget after a tool use whose reply %s: %#', (_what, blocks, hasThinking) => {
    const use = { type: 'tool_use', id: 't', name: 'add', input: {} } as const
    const messages: readonly Message[] = [
      text('user', 'a'),
      { role: 'assistant', content: [...blocks, use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
    ]
    expect('thinking' in toParams({ ...base, messages, thinking: { budgetTokens: 2_000 } })).toBe(hasThinking)
    expect(toParams({ ...base, messages, thinking: 'adaptive' })).toHaveProperty('thinking')
    expect(
      toParams({
        ...base,
        messages: [...messages, text('assistant', 'b'), text('user', 'c')],
        thinking: { budgetTokens: 2_000 },
      }),
    ).toHaveProperty('thinking')
  })

  it('sends server tools unchanged, before the others', () => {
    const search = { type: 'web_search_20260318', name: 'web_search', max_uses: 2 }
    expect(toParams({ ...base, tools: [tool('a')], serverTools: [search] }).tools).toEqual([
      search,
      { name: 'a', description: 'a', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
    ])
    expect(toParams({ ...base, serverTools: [search] }).tools).toEqual([search])
  })

  it('sends a tool that the API defines by its type, and its description in the system prompt', () => {
    const memory = { ...tool('memory'), nativeType: 'memory_20250818' } as const
    const request = { ...base, tools: [memory, { ...memory, name: 'notes' }, tool('a')] }
    const params = toParams(request)
    expect(params.tools).toMatchObject([
      { type: 'memory_20250818', name: 'memory' },
      { name: 'notes', description: 'memory' },
      { name: 'a' },
    ])
    expect(params.tools?.[0]).toEqual({ type: 'memory_20250818', name: 'memory' })
    expect(params.system).toMatchObject([{ text: 'Be brief.\n\nThe tool memory: memory' }])
    const options = { hasInputExamples: true, hasToolSearch: true, hasNativeTools: false }
    expect(toParamsWith(request, options).tools?.[0]).toMatchObject({ name: 'memory', description: 'memory' })
    expect(toParamsWith(request, options).system).toMatchObject([{ text: 'Be brief.' }])
  })

  it('sets cache breakpoints only on the last tool, the system prompt and the last two user messages', () => {
    const messages = Array.from({ length: 9 }, (_, n) => text(n % 2 === 0 ? 'user' : 'assistant', `${n}`))
    const params = toParams({ ...base, tools: [tool('a'), tool('b')], messages })
    expect(breakpoints(params)).toEqual(['/tools/1', '/system/0', '/messages/6/content/0', '/messages/8/content/0'])
  })

  it('sets the cache breakpoint on the last block of a message with many results', () => {
    const results = ['t1', 't2', 't3'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: '' }) as const)
    const params = toParams({ ...base, system: '', messages: [{ role: 'user', content: results }] })
    expect(breakpoints(params)).toEqual(['/messages/0/content/2'])
  })

  it('sends an extended conversation as the same bytes plus the new messages', () => {
    const before = [text('user', 'a'), text('assistant', 'b'), text('user', 'c')]
    const strip = (messages: readonly Message[]) =>
      JSON.stringify(toParams({ ...base, messages }).messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    expect(strip([...before, text('assistant', 'd'), text('user', 'e')]).startsWith(strip(before).slice(0, -1))).toBe(
      true,
    )
  })

  it('sends unknown blocks back unchanged', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 's==' },
      { type: 'dream', images: [{ deep: [null, 1.5] }] },
      { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 }, caller: { type: 'direct' } },
    ]
    const messages: readonly Message[] = [text('user', 'a'), { role: 'assistant', content }]
    expect(toParams({ ...base, messages }).messages[1]).toEqual({ role: 'assistant', content })
  })

  it('a request omits blank text and empty messages, but not empty results', () => {
    const messages: readonly Message[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: ' \n' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'assistant', content: [] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '' }] },
    ]
    const sent = toParams({ ...base, messages }).messages
    expect(sent.map(({ content }) => content.length)).toEqual([1, 1])
    expect(sent[1]).toMatchObject({ role: 'user', content: [{ type: 'tool_result' }] })
  })

  it('a request has a temperature, also 0', () => {
    expect(toParams({ ...base, temperature: 0 })).toMatchObject({ temperature: 0 })
  })

  it('a request omits an empty system prompt and an empty tool list', () => {
    expect(Object.keys(toParams({ ...base, system: ' ' }))).toEqual(['model', 'max_tokens', 'stream', 'messages'])
  })

  it('a request has examples only for tools that have some', () => {
    const params = toParams({ ...base, tools: [{ ...tool('a'), inputExamples: [{ x: 1 }] }, tool('b')] })
    expect(params.tools).toEqual([
      { name: 'a', description: 'a', input_schema: { type: 'object' }, input_examples: [{ x: 1 }] },
      { name: 'b', description: 'b', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
    ])
  })

  describe('with hosted code', () => {
    const container = { id: 'container_1', expiresAt: null }
    const hosted = (messages: readonly Message[] = []) =>
      toParams({
        ...base,
        tools: [{ ...tool('pay'), allowedCallers: ['direct', 'code_execution'] }],
        messages,
        hostedCode: { container },
      })

    it('a request with hosted code has the tool for code, the callers of the tools and the container', () => {
      const { tools, container } = hosted()
      expect(container).toBe('container_1')
      expect(tools).toEqual([
        { type: 'code_execution_20260120', name: 'code_execution' },
        {
          name: 'pay',
          description: 'pay',
          input_schema: { type: 'object' },
          allowed_callers: ['direct', 'code_execution_20260120'],
          cache_control: { type: 'ephemeral' },
        },
      ])
    })

    it('a request with hosted code asks for a new container, and has the tool for code without other tools', () => {
      const params = toParams({ ...base, hostedCode: {} })
      expect(params).not.toHaveProperty('container')
      expect(params.tools).toMatchObject([{ name: 'code_execution' }])
    })

    it('a request with hosted code returns server blocks unchanged, and caches up to no result for code', () => {
      const content = [
        { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: 'x' }, caller: { type: 'direct' } },
        {
          type: 'tool_use',
          id: 't1',
          name: 'pay',
          input: {},
          caller: { type: 'code_execution_20260120', tool_id: 's1' },
        },
      ]
      const result = { type: 'tool_result', tool_use_id: 't1', content: '1' } as const
      const params = hosted([text('user', 'a'), { role: 'assistant', content }, { role: 'user', content: [result] }])
      expect(params.messages.slice(1)).toEqual([
        { role: 'assistant', content },
        { role: 'user', content: [result] },
      ])
      expect(breakpoints(params)).toEqual(['/tools/1', '/system/0', '/messages/0/content/0'])
    })
  })
})

it('a request has the tool choice with tools, and stop sequences', () => {
  const choose = (toolChoice: NonNullable<ModelRequest['toolChoice']>, tools = [tool('ask')]) =>
    toParams({ ...base, tools, toolChoice }).tool_choice
  expect(choose({ type: 'auto', isSingle: true })).toEqual({ type: 'auto', disable_parallel_tool_use: true })
  expect(choose({ type: 'tool', name: 'ask' })).toEqual({ type: 'tool', name: 'ask' })
  expect(choose({ type: 'none' })).toEqual({ type: 'none' })
  expect(choose({ type: 'any' }, [])).toBeUndefined()
  expect(toParams({ ...base, stopSequences: ['END'] }).stop_sequences).toEqual(['END'])
  expect(toParams(base)).not.toHaveProperty('stop_sequences')
})
