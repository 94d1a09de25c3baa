import { expect, it } from 'vitest'
import type { Message } from '../../../common/agent/messages.js'
import { compactedMessage, summaryRequest } from './summary.js'

const messages: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Add it up.' }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'secret thoughts', signature: 's' },
      { type: 'text', text: 'I will.' },
      { type: 'tool_use', id: 'a', name: 'execute_code', input: { code: 'print(1)' } },
      { type: 'tool_use', id: 'b', name: 'ping', input: { times: 2 } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'a', content: '1' },
      { type: 'tool_result', tool_use_id: 'b', content: 'x'.repeat(9_000) },
      { type: 'text', text: 'In EUR, please.' },
    ],
  },
]

it('the request for a summary has a transcript that is only text', () => {
  const { tools, messages: sent } = summaryRequest(messages, 100_000)
  expect(tools).toEqual([])
  expect(sent).toHaveLength(1)
  const text = JSON.stringify(sent)
  expect(text).toContain('call of execute_code: print(1)')
  expect(text).toContain('result: 1')
  expect(text).toContain('In EUR, please.')
  expect(text).not.toContain('secret thoughts')
  expect(text.length).toBeLessThan(6_000)
  expect(JSON.stringify(summaryRequest(messages, 1_000)).length).toBeLessThan(2_500)
})

it('several compactions keep the question and the latest texts of the user unchanged', () => {
  const texts = (message: Message) => message.content.map((block) => 'text' in block && block.text)
  const once = compactedMessage(messages, ' It is 1. ', 1_000)
  expect(texts(once)).toEqual(['Add it up.', 'In EUR, please.', expect.stringMatching(/^Summary .*\n\nIt is 1\.$/)])
  const more: Message = { role: 'user', content: [{ type: 'text', text: 'Now in USD.' }] }
  const twice = compactedMessage([once, more], 'It is 2.', 12)
  expect(texts(twice)).toEqual(['Add it up.', 'Now in USD.', expect.stringContaining('It is 2.')])
  expect(JSON.stringify(twice)).not.toContain('It is 1.')
})
