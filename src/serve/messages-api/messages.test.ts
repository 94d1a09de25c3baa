import { describe, expect, it } from 'vitest'
import { toProviderMessages } from './conversion.js'
import type { ApiMessage, Block } from './blocks.js'
import { digestMessages, lastPersonal, newMessageOf, resultsOf } from './messages.js'

const user = (...content: Block[]): ApiMessage => ({ role: 'user', content })
const assistant = (...content: Block[]): ApiMessage => ({ role: 'assistant', content })
const text = (content: string): Block => ({ type: 'text', text: content })
const code = (id: string): Block => ({
  type: 'server_tool_use',
  id: `srvtoolu_${id}`,
  name: 'code_execution',
  input: { code: 'x' },
})
const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
const codeCall = (id: string): Block => ({ type: 'tool_use', id, name: 'ask', input: {}, caller })
const directCall = (id: string): Block => ({
  type: 'tool_use',
  id,
  name: 'ask',
  input: { n: 1 },
  caller: { type: 'direct' },
})
const result = (id: string, content: unknown, more = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})
const codeResult = (id: string, stdout: string, stderr = ''): Block => ({
  type: 'code_execution_tool_result',
  tool_use_id: `srvtoolu_${id}`,
  content: { type: 'code_execution_result', stdout, stderr, return_code: stderr === '' ? 0 : 1, content: [] },
})
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })

describe('toProviderMessages', () => {
  it('converts code to a tool use of the engine, and leaves out the calls of the code', () => {
    const messages = [
      user(text('Go.')),
      assistant(text('I run.'), code('1'), codeCall('toolu_a')),
      user(result('toolu_a', 'one')),
      assistant(codeCall('toolu_b')),
      user(result('toolu_b', 'two')),
      assistant(codeResult('1', 'out\n', 'Traceback'), text('Again.'), code('2'), codeResult('2', ''), text('Done.')),
    ]
    expect(toProviderMessages(messages)).toEqual([
      { role: 'user', content: [text('Go.')] },
      { role: 'assistant', content: [text('I run.'), use('toolu_1', 'execute_code', { code: 'x' })] },
      { role: 'user', content: [{ ...result('toolu_1', 'out\nTraceback'), is_error: true }] },
      { role: 'assistant', content: [text('Again.'), use('toolu_2', 'execute_code', { code: 'x' })] },
      { role: 'user', content: [result('toolu_2', '(empty)')] },
      { role: 'assistant', content: [text('Done.')] },
    ])
  })

  it('joins the results of direct calls and of code that one reply made', () => {
    const messages = [
      user(text('Go.')),
      assistant(code('1'), directCall('toolu_d'), codeCall('toolu_a')),
      user(result('toolu_a', 'one'), result('toolu_d', [text('no'), text('way')], { is_error: true })),
      assistant(codeResult('1', 'out'), text('Done.')),
    ]
    expect(toProviderMessages(messages).slice(1)).toEqual([
      { role: 'assistant', content: [use('toolu_1', 'execute_code', { code: 'x' }), use('toolu_d', 'ask', { n: 1 })] },
      {
        role: 'user',
        content: [{ ...result('toolu_d', 'no\nway'), is_error: true }, result('toolu_1', 'out')],
      },
      { role: 'assistant', content: [text('Done.')] },
    ])
  })

  it("drops thinking and cache breakpoints of a client's messages", () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' }
    const messages = [
      user({ ...text('Go.'), cache_control: { type: 'ephemeral' } }),
      assistant(thinking, text('Done.')),
    ]
    expect(toProviderMessages(messages)).toEqual([
      { role: 'user', content: [text('Go.')] },
      { role: 'assistant', content: [text('Done.')] },
    ])
  })

  it.each([
    ['code without a result', [assistant(code('1')), user(text('So?'))]],
    ['a direct call without a result', [assistant(directCall('toolu_d')), user(text('So?'))]],
    ['a result of code without the code', [assistant(codeResult('1', ''))]],
    ['a call of the user', [user(directCall('toolu_d'))]],
    ['another server tool', [assistant({ ...code('1'), name: 'web_search' })]],
    [
      'a reference in place of an image',
      [user({ type: 'image', source: { type: 'base64', data: { 'ptc.value': {} } } })],
    ],
    ['an input that is not an object', [assistant({ ...code('1'), input: 'x' })]],
    ['an unknown block', [assistant({ type: 'mcp_tool_use' })]],
    ['a text that is none', [user({ type: 'text', text: 1 })]],
  ])('refuses to convert %s', (_, messages) => {
    expect(() => toProviderMessages(messages)).toThrow('messages: ')
  })
})

it('distinguishes results from a new message', () => {
  const results = [user(text('Go.')), assistant(codeCall('toolu_a')), user(result('toolu_a', undefined))]
  expect(resultsOf(results)).toEqual({ results: [{ id: 'toolu_a', text: '', isError: false }], others: [] })
  expect(lastPersonal(results)).toBe(0)
  expect(resultsOf([user(text('Go.'))])).toBeUndefined()
  expect(newMessageOf([user(text('a'), text('b'))])).toEqual({ text: 'a\n\nb', attachments: [] })
})

it('gives the same messages the same digest with any cache breakpoints', () => {
  const plain = [user(text('Go.')), assistant(text('Done.'))]
  const cached = [user({ ...text('Go.'), cache_control: { type: 'ephemeral' } }), assistant(text('Done.'))]
  expect(digestMessages(cached)).toBe(digestMessages(plain))
  expect(digestMessages([...plain, user(text('Go.'))])).not.toBe(digestMessages(plain))
})

it('puts results before other texts of the user, and leaves the reading of URLs to the provider', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  const document = { type: 'document', title: 'Notes', source: { type: 'text', media_type: 'text/plain', data: 'a' } }
  const messages = [
    user(text('Go.')),
    assistant(directCall('toolu_d')),
    user(text('Be short.'), { ...image, cache_control: {} }, result('toolu_d', null), document),
  ]
  expect(toProviderMessages(messages).at(-1)).toEqual({
    role: 'user',
    content: [result('toolu_d', '(empty)'), text('Be short.'), image, text('Notes\n\na')],
  })
  expect(newMessageOf([user(image, text('What is it?'))])).toBeUndefined()
  expect(newMessageOf([user(text('First:'), image)])).toBeUndefined()
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  expect(newMessageOf([user({ type: 'image', source }, text('What is it?'))])).toEqual({
    text: 'What is it?',
    attachments: [{ data: 'AAAA' }],
  })
})

it.each([
  ['a result without its call', [user(text('Go.')), assistant(text('Yes.')), user(result('toolu_x', 'x'))], 'toolu_x'],
  ['a second result', [assistant(directCall('a')), user(result('a', 'x'), result('a', 'y'))], 'no tool_use'],
  ['results of code without its container', [assistant(code('1'), codeCall('a')), user(result('a', 'x'))], 'container'],
  [
    'citations',
    [user({ type: 'document', source: { type: 'url', url: 'x' }, citations: { enabled: true } })],
    'citations',
  ],
  ['a file by its id', [user({ type: 'image', source: { type: 'file', file_id: 'f' } })], 'file'],
  ['a source that is none', [user({ type: 'image', source: 'x' })], 'none'],
  ['a result of blocks that are none', [assistant(directCall('a')), user(result('a', [null, 1]))], 'texts only'],
])('refuses messages with %s by its name', (_, messages, message) => {
  expect(() => toProviderMessages(messages)).toThrow(message)
})
