import { expect, it } from 'vitest'
import { randomMessages } from '../../../../test/support/random-messages.js'
import { isThinkingBlock, isToolUseBlock, type Message } from '../../../common/agent/messages.js'
import { countCharacters, splitMessages, withoutThinking } from './split-messages.js'

/** Returns the ids of tool uses, and of results. */
function idsOf(messages: readonly Message[]) {
  const uses: string[] = []
  const results: string[] = []
  for (const message of messages) {
    if (message.role === 'assistant') uses.push(...message.content.filter(isToolUseBlock).map(({ id }) => id))
    else results.push(...message.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])))
  }
  return { uses, results }
}

it('a split never separates a tool use from its result, and keeps the last reply', () => {
  let splits = 0
  for (let seed = 1; seed <= 600; seed += 1) {
    const messages = randomMessages(seed)
    const split = splitMessages(messages, (seed % 40) * 1_000)
    if (split === undefined) continue
    splits += 1
    const [early, kept] = [idsOf(messages.slice(0, split)), idsOf(messages.slice(split))]
    expect(early.results, `seed ${seed}`).toEqual(early.uses)
    const last = messages.at(-1)
    expect(kept.uses.slice(0, kept.results.length), `seed ${seed}`).toEqual(kept.results)
    expect(messages[split - 1]?.role, `seed ${seed}`).toBe('user')
    expect(messages.slice(split), `seed ${seed}`).toContain(last)
    expect(messages[split]?.role, `seed ${seed}`).toBe('assistant')
  }
  expect(splits).toBeGreaterThan(300)
})

it('a split keeps as many messages as fit', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const messages = randomMessages(seed)
    const size = (position: number) => countCharacters(messages.slice(position))
    const split = splitMessages(messages, 20_000)
    const all = messages.flatMap((_, position) => {
      const found = splitMessages(messages, size(position))
      return found === position ? [position] : []
    })
    const fitting = all.filter((position) => size(position) <= 20_000)
    expect(split, `seed ${seed}`).toBe(fitting[0] ?? all.at(-1))
  }
})

it('too few messages, and messages with tool uses without results, are not split', () => {
  const text = (role: 'user' | 'assistant', content: string): Message => ({
    role,
    content: [{ type: 'text', text: content }],
  })
  const use: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'ping', input: {} }] }
  expect(splitMessages([], 0)).toBeUndefined()
  expect(splitMessages([text('user', '1'), use], 0)).toBeUndefined()
  expect(splitMessages([text('user', '1'), use, text('user', '2'), text('assistant', '3')], 0)).toBeUndefined()
  expect(splitMessages([text('user', '1'), text('assistant', '2'), text('user', '3'), use], 0)).toBe(3)
})

it('thinking is left out, and so are replies that contain only thinking', () => {
  const messages: Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'yes' },
      ],
    },
  ]
  expect(withoutThinking(messages)).toEqual([
    messages[0],
    { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
  ])
  for (const { role, content } of withoutThinking(randomMessages(7)))
    if (role === 'assistant') expect(content.some(isThinkingBlock)).toBe(false)
})
