import { expect, it } from 'vitest'
import { randomMessages } from '../../../../test/support/random-messages.js'
import type { Message, UserBlock } from '../../../common/agent/messages.js'
import { cutNote } from '../../../models/prompt/read-more-tool.js'
import { shortenOldResults } from './shorten-results.js'

const use = (id: string): Message => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'tool_use', id, name: 'ping', input: {} },
  ],
})
const result = (id: string, content: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})
const contentOf = (message: Message | undefined): UserBlock | undefined =>
  message?.role === 'user' ? message.content[0] : undefined

it('large results of old turns are shortened to head, tail and the number of missing bytes', () => {
  const large = `${'ä'.repeat(900)}${'b'.repeat(5_000)}`
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'q'.repeat(9_000) }] } as Message,
    use('1'),
    result('1', 'short'),
    use('2'),
    result('2', large),
    use('3'),
    result('3', large),
    use('4'),
  ]
  const { messages: short, shortened } = shortenOldResults(messages, 1)
  expect(shortened).toBe(1)
  const note = '\n[... 4800 bytes of this old result were removed ...]\n'
  expect(contentOf(short[4])).toMatchObject({
    content: `${'ä'.repeat(800)}${note}${'b'.repeat(400)}\n${cutNote('2')}`,
    tool_use_id: '2',
  })
  // Only the thinking after it has changed as well.
  expect(short.slice(0, 4)).toEqual(messages.slice(0, 4))
  expect(short[6]).toBe(messages[6])
  expect(short[5]?.content).toEqual(use('3').content.slice(1))
})

it('shortening changes no recent turn, and a repetition gives the same messages', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const messages = randomMessages(seed)
    const once = shortenOldResults(messages, 3)
    const replies = messages.filter(({ role }) => role === 'assistant').length
    if (replies < 3) expect(once.shortened).toBe(0)
    const results = (all: readonly Message[]) =>
      all.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
    const recent = messages.slice(
      messages.findLastIndex(({ role }, position) => {
        return role === 'assistant' && messages.slice(position).filter((each) => each.role === 'assistant').length === 3
      }),
    )
    const kept = results(recent).length
    if (kept > 0 && replies >= 3) expect(results(once.messages).slice(-kept), `seed ${seed}`).toEqual(results(recent))
    expect(shortenOldResults(once.messages, 3).messages, `seed ${seed}`).toEqual(once.messages)
  }
})

it('a shortened result keeps its whole text for read_more, and the parts of a result that was cut before', () => {
  const large = 'a'.repeat(3_000)
  const messages = [
    result('0', 'x'),
    use('1'),
    { ...result('1', large), whole: { 1: ['the whole'] } },
    use('2'),
    result('2', large),
    use('3'),
    result('3', 'y'),
    use('4'),
  ]
  const { messages: short } = shortenOldResults(messages, 1)
  expect(short[2]).toMatchObject({ whole: { 1: ['the whole'] } })
  expect(short[4]).toMatchObject({ whole: { 2: [large] } })
  expect(contentOf(short[4])).toMatchObject({
    content: expect.stringMatching(/read_more\({"id": "2", .*\)$/) as string,
  })
})
