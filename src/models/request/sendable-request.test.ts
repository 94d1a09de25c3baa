import { describe, expect, it } from 'vitest'
import type { Message, ToolUseBlock } from '../../common/agent/messages.js'
import { toParams as toMessagesParams } from '../anthropic/request.js'
import type { ModelRequest } from '../provider.js'
import { toCallOptions } from '../ai-sdk/request.js'
import { toSendableRequest } from './sendable-request.js'

const base: ModelRequest = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const uses = (...blocks: readonly (readonly [id: string, name?: string, input?: unknown])[]): Message => ({
  role: 'assistant',
  content: blocks.map(([id, name = 'pay', input = {}]) => ({ type: 'tool_use', id, name, input: input as {} })),
})
const results = (...ids: readonly string[]): Message => ({
  role: 'user',
  content: ids.map((id, position) => ({ type: 'tool_result', tool_use_id: id, content: `${position}` })),
})

function send(messages: readonly Message[]): readonly Message[] {
  return toSendableRequest({ ...base, messages }).messages
}

/** Ids of the tool uses, and of the results, of each message. */
function idsOf(messages: readonly Message[]): readonly (readonly string[])[] {
  return messages.map(({ content }) =>
    content.map((block) =>
      'tool_use_id' in block ? (block.tool_use_id as string) : 'id' in block ? (block.id as string) : '',
    ),
  )
}

const oddIds = ['', 'call_0', 'x'.repeat(65), '__proto__', 'é😀', 'functions.pay:0', 'a b', '\ud83d', 'toolu_01']

describe('ids', () => {
  it.each(oddIds)(
    'translates ids of another provider into ids that all providers accept, in calls and results: %j',
    (id) => {
      const sent = send([user('a'), uses([id]), results(id), uses([id]), results(id)])
      const [first, firstResult, second, secondResult] = idsOf(sent).slice(1).flat()
      expect([firstResult, secondResult]).toEqual([first, second])
      expect(first).not.toBe(second)
      expect([first, second]).toEqual([
        expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
        expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
      ])
    },
  )

  it('gives an id that a reply uses twice its results in the order of the calls', () => {
    const sent = send([uses(['same'], ['other'], ['same']), results('same', 'other', 'same')])
    const [calls, answers] = idsOf(sent)
    expect(answers).toEqual(calls)
    expect(new Set(calls).size).toBe(3)
  })

  it('keeps ids of the engine and of calls of hosted code', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const hosted: Message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'pay', input: {}, caller }],
    }
    const messages = [uses(['aB3dE6gH9']), results('aB3dE6gH9'), hosted, results('toolu_1')]
    expect(send(messages)).toEqual(messages)
  })

  it('the ids of a longer conversation begin with those of the shorter one, so that prompts stay cached', () => {
    const before = [user('a'), uses(['call_0'], ['call_0']), results('call_0', 'call_0')]
    const after = [...before, uses(['call_0']), results('call_0'), user('b')]
    expect(JSON.stringify(send(after)).startsWith(JSON.stringify(send(before)).slice(0, -1))).toBe(true)
  })

  it('finds the ids of a conversation of a thousand turns without a delay', () => {
    const messages = Array.from({ length: 1_000 }, () => [uses(['call_0']), results('call_0')]).flat()
    expect(new Set(idsOf(send(messages)).flat()).size).toBe(1_000)
  })
})

describe('names', () => {
  it.each([
    ['execute_code" />', 'execute_code____'],
    ['', 'unnamed'],
    ['n'.repeat(300), 'n'.repeat(64)],
    ['größe.x', 'gr__e_x'],
    ['pay', 'pay'],
  ])('sends the tool name %j as %j', (name, sent) => {
    expect(send([uses(['aB3dE6gH9', name])])).toMatchObject([{ content: [{ name: sent }] }])
  })

  it('sent tool names are unique, valid for all APIs, and the same in tools, calls and the choice', () => {
    const names = ['a.b', 'a/b', 'a_b', 'n'.repeat(65), 'n'.repeat(64), '__proto__', 'pay']
    const tools = names.map((name) => ({ name, description: '', inputSchema: {}, inputExamples: [] }))
    const messages = names.map((name) => uses(['aB3dE6gH9', name]))
    const serverTools = [{ type: 'search', name: 'web_search' }]
    const request = { ...base, tools, serverTools, messages, toolChoice: { type: 'tool', name: 'a/b' } } as const
    const sent = toSendableRequest(request)
    const sentNames = sent.tools.map(({ name }) => name)
    expect(new Set(sentNames).size).toBe(names.length)
    for (const name of sentNames) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(names.filter((name, position) => name === sentNames[position])).toEqual(names.slice(2).toSpliced(1, 1))
    expect(sent.messages.map(({ content }) => (content[0] as ToolUseBlock).name)).toEqual(sentNames)
    expect(sent.toolChoice).toEqual({ type: 'tool', name: sentNames[1] })
  })
})

it.each([[[1]], ['text'], [null], [5]])('sends the input %j as an object', (input) => {
  expect(send([uses(['aB3dE6gH9', 'pay', input])])).toMatchObject([{ content: [{ input: {} }] }])
})

it('sends only well-formed texts, in every part of a request', () => {
  const half = '\ud83d'
  const request: ModelRequest = {
    ...base,
    system: `s${half}`,
    tools: [
      {
        name: 'pay',
        description: `d${half}`,
        inputSchema: { type: 'object', properties: { [half]: { enum: [half] } } },
        inputExamples: [{ [`k${half}`]: half }],
      },
    ],
    serverTools: [{ type: 'search', hint: half }],
    messages: [
      user(half),
      { role: 'assistant', content: [{ type: 'thinking', thinking: half, deep: [{ [half]: half }] }] },
      uses(['aB3dE6gH9', 'pay', { [half]: [half] }]),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'aB3dE6gH9', content: `😀${half}` }] },
    ],
  }
  const sent = toSendableRequest(request)
  // `JSON.stringify` escapes only halves of surrogate pairs.
  expect(JSON.stringify(request)).toMatch(/\\ud83d/)
  expect(JSON.stringify(sent)).not.toMatch(/\\ud83d/)
  expect(JSON.stringify(sent)).toContain('😀\ufffd')
})

it('returns the parts of a request that need no change', () => {
  const tools = [{ name: 'pay', description: 'é😀', inputSchema: {}, inputExamples: [] }]
  expect(toSendableRequest({ ...base, tools }).tools).toBe(tools)
})

// Ids that strict servers accept, by the form of their API.
const strict = /^[a-zA-Z0-9]{9}$/

it.each(oddIds)('translates a conversation with the id %j for the APIs of all vendors', (id) => {
  const messages = [user('a'), uses([id, 'bad name'], [id]), results(id, id), uses([id]), results(id)]
  const request = toSendableRequest({ ...base, messages })
  const form = { provider: 'p', hasInstructions: false, toolsInSystemPrompt: false }
  const parts = toCallOptions(request, form).prompt.flatMap(({ content }): readonly object[] =>
    typeof content === 'string' ? [] : content,
  ) as readonly { readonly type: string; readonly toolCallId?: string }[]
  const idsOfParts = (type: string) => parts.flatMap((part) => (part.type === type ? (part.toolCallId ?? '') : []))
  const ofMessages = idsOf(
    toMessagesParams(request, { hasInputExamples: true, hasToolSearch: true, hasNativeTools: true })
      .messages as readonly Message[],
  ).flat()
  for (const ids of [idsOfParts('tool-call'), ofMessages.filter((each) => each !== '')]) {
    expect(new Set(ids).size).toBe(3)
    for (const each of ids) expect(each).toMatch(strict)
  }
  expect(idsOfParts('tool-result')).toEqual(idsOfParts('tool-call'))
})
