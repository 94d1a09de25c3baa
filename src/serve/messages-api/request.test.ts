import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.js'
import { parseRequest } from './request.js'

const code = { type: 'code_execution_20260120', name: 'code_execution' }
const ask = { name: 'ask', input_schema: { type: 'object' } }
const question = { role: 'user', content: 'Hi.' }
const plain = { model: 'm', max_tokens: 10, messages: [question] }
const withCode = { ...plain, tools: [code, ask] }

describe('a plain request', () => {
  it('a request without code_execution is plain, with or without tools', () => {
    expect(parseRequest(plain)).toMatchObject({
      codeCallerType: undefined,
      options: { isPlain: true, clientTools: [], maxTokens: 10, instructions: '' },
    })
    const { options } = parseRequest({ ...plain, tools: [{ ...ask, name: 'get-it', allowed_callers: ['direct'] }] })
    expect(options.clientTools).toMatchObject([{ name: 'get-it', allowedCallers: ['direct'] }])
  })

  it('a plain request has the choice of tools, stop sequences and the format of its answer', () => {
    const given = {
      ...plain,
      tools: [ask],
      tool_choice: { type: 'tool', name: 'ask', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    }
    expect(parseRequest(given).options).toMatchObject({
      toolChoice: { type: 'tool', name: 'ask', isSingle: true },
      stopSequences: ['END'],
      effort: 'low',
      outputSchema: { type: 'object' },
    })
    const optionsWith = (more: object) => parseRequest({ ...plain, tools: [ask], ...more }).options
    expect(optionsWith({ tool_choice: { type: 'auto' } }).toolChoice).toBeUndefined()
    expect(optionsWith({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }).toolChoice).toEqual({
      type: 'auto',
      isSingle: true,
    })
    expect(optionsWith({ tool_choice: { type: 'none' } }).toolChoice).toEqual({ type: 'none' })
    const format = { type: 'json_schema', schema: { type: 'array' } }
    const older = optionsWith({ output_format: format, tool_choice: { type: 'none' } })
    expect(older).toMatchObject({ outputSchema: { type: 'array' }, clientTools: [] })
    expect(older.toolChoice).toBeUndefined()
  })

  it('a plain request may have null for optional fields', () => {
    const names = ['system', 'tools', 'container', 'stream', 'temperature', 'thinking', 'output_config', 'tool_choice']
    const others = ['stop_sequences', 'thread', 'mcp_servers', 'context_management', 'top_k', 'metadata', 'extra']
    const nulls = Object.fromEntries([...names, ...others].map((name) => [name, null]))
    expect(parseRequest({ ...plain, ...nulls })).toEqual(parseRequest(plain))
  })
})

it('joins messages of one role, and makes system messages a part of the prompt or a text', () => {
  const messages = [
    { role: 'system', content: 'First.' },
    { role: 'user', content: 'a' },
    { role: 'user', content: [{ type: 'text', text: 'b' }] },
    { role: 'assistant', content: 'c' },
    { role: 'assistant', content: 'd' },
    { role: 'user', content: 'e' },
    { role: 'system', content: 'Be short.' },
  ]
  const { messages: joined, options } = parseRequest({ ...plain, system: 'Zero.', messages })
  expect(options.instructions).toBe('Zero.\n\nFirst.')
  const text = (content: string) => ({ type: 'text', text: content })
  expect(joined).toEqual([
    { role: 'user', content: [text('a'), text('b')] },
    { role: 'assistant', content: [text('c'), text('d')] },
    { role: 'user', content: [text('e'), text('<system>\nBe short.\n</system>')] },
  ])
})

it('ignores fields of a request that have no effect, and names them', () => {
  const tools = [{ ...ask, cache_control: { type: 'ephemeral' }, defer_loading: true, strict: true }]
  const search = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }
  const given = { ...plain, tools: [search, ...tools], metadata: { user_id: 'u' }, service_tier: 'auto', speed: 'fast' }
  const { ignored, options } = parseRequest(given)
  expect(ignored).toEqual(['metadata', 'service_tier', 'speed', 'tools.cache_control', 'tools.defer_loading'])
  expect(options.clientTools).toHaveLength(1)
  expect(parseRequest(plain).ignored).toEqual([])
})

it('names thinking that is lost', () => {
  const enabled = { type: 'enabled', budget_tokens: 1_024 }
  const block = { type: 'thinking', thinking: 'hm', signature: 's' }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'ask', input: {} }
  const results = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a' }] }
  const ignoredOf = (more: object, content: object[] = [use]) =>
    parseRequest({ ...plain, ...more, messages: [question, { role: 'assistant', content }, results] }).ignored
  expect(ignoredOf({})).toEqual([])
  expect(ignoredOf({ thinking: enabled })).toEqual(['thinking'])
  expect(ignoredOf({ thinking: enabled }, [block, use])).toEqual(['thinking', 'messages.thinking'])
  expect(ignoredOf({}, [{ type: 'redacted_thinking', data: 'x' }, use])).toEqual(['messages.thinking'])
  expect(ignoredOf({ thinking: { type: 'adaptive', display: 'summarized' } })).toEqual(['thinking.display'])
  expect(parseRequest({ ...plain, thinking: { ...enabled, display: 'omitted' } }).ignored).toEqual(['thinking.display'])
  expect(parseRequest({ ...plain, thinking: enabled }).ignored).toEqual([])
  // The conversation of a container has its thinking.
  expect(ignoredOf({ tools: [code, ask], thinking: enabled })).toEqual([])
})

it('refuses a thread in the way after which the SDKs send the request without one', () => {
  for (const thread of [{ type: 'create' }, { type: 'continue', id: 't' }]) {
    expect(() => parseRequest({ ...plain, thread, top_k: 3 })).toThrow(
      expect.objectContaining({
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      }) as Error,
    )
  }
})

it.each([
  ['an unknown field', { ...plain, extra: 1 }, 'extra'],
  ['top_k', { ...plain, top_k: 5 }, 'top_k'],
  ['MCP servers', { ...plain, mcp_servers: [{}] }, 'mcp_servers'],
  ['context management', { ...plain, context_management: { edits: [] } }, 'context_management'],
  ['a forced tool beside code', { ...withCode, tool_choice: { type: 'tool', name: 'ask' } }, 'tool_choice: tool'],
  ['any tool beside code', { ...withCode, tool_choice: { type: 'any' } }, 'tool_choice: any'],
  [
    'no parallel use beside code',
    { ...withCode, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    'disable_parallel_tool_use',
  ],
  [
    'a tool for code without code',
    { ...plain, tools: [{ ...ask, allowed_callers: ['code_execution_20260120'] }] },
    'code_execution',
  ],
  ['a server tool', { ...plain, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'web_search_20250305'],
  ['any tool without tools', { ...plain, tool_choice: { type: 'any' } }, 'tool_choice: any'],
  ['an unknown field of thinking', { ...plain, thinking: { type: 'adaptive', depth: 1 } }, 'thinking'],
  ['two formats', { ...plain, output_format: format(), output_config: { format: format() } }, 'output_format'],
  ['another format', { ...plain, output_config: { format: { type: 'grammar' } } }, 'output_config.format'],
  ['system messages only', { ...plain, messages: [{ role: 'system', content: 'x' }] }, 'messages'],
  ['a list', [], 'object'],
])('refuses a request with %s by its name', (_what, body, message) => {
  expect(() => parseRequest(body)).toThrow(message)
})

function format() {
  return { type: 'json_schema', schema: {} }
}

const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)

it.each([
  ['tools', { ...plain, tools: many(200_000, {}) }],
  ['blocks', { ...plain, messages: [{ role: 'user', content: many(200_000, {}) }] }],
  ['messages', { ...plain, messages: many(200_000, {}) }],
  ['blocks that are none', { ...plain, messages: [{ role: 'user', content: many(100_000, {}) }] }],
  ['system blocks', { ...plain, system: many(200_000, 1) }],
  ['unknown fields', { ...plain, ...Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`k${n}`, 1])) }],
  ['examples', { ...plain, tools: [{ ...ask, input_examples: many(200_000, {}) }] }],
  ['callers', { ...plain, tools: [{ ...ask, allowed_callers: many(200_000, 'direct') }] }],
  ['long names', { ...plain, ['x'.repeat(30_000_000)]: 1 }],
])('refuses too many %s quickly, with a short error', (_what, body) => {
  const isShort = expect.objectContaining({ message: expect.stringMatching(/^.{1,2100}$/s) as string }) as Error
  expect(cpuMs(() => expect(() => parseRequest(body)).toThrow(isShort))).toBeLessThan(1_000)
})
