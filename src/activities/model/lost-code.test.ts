import { expect, it } from 'vitest'
import type { Message } from '../../common/runs/messages.js'
import { endLostCode } from './lost-code.js'

const uses = [{ id: 'srvtoolu_1', name: 'code_execution' }]
const call = { type: 'tool_use', id: 'a', name: 'pay', input: { cents: 5 } } as const
const earlier: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Pay.' }] },
  { role: 'assistant', content: [call] },
]
const result = { type: 'tool_result', tool_use_id: 'a', content: '{"id":"p1"}' } as const

it('lost code ends with an error after the results of its calls, and the model reads which calls are done', () => {
  const messages = endLostCode(earlier, [{ role: 'user', content: [result] }], { uses, reason: 'expired' })
  expect(messages.slice(0, 2)).toEqual([
    { role: 'user', content: [result] },
    {
      role: 'assistant',
      content: [
        {
          type: 'code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'code_execution_tool_result_error', error_code: 'unavailable' },
        },
      ],
    },
  ])
  const [note] = messages[2]?.content ?? []
  expect(note).toMatchObject({ text: expect.stringMatching(/^\[container_expired\]/) as string })
  expect(note).toMatchObject({ text: expect.stringContaining('- pay({"cents":5}) -> {"id":"p1"}') as string })
})

it('a message that arrived while code waited comes after the end of the lost code', () => {
  const text = { type: 'text', text: 'Stop that.' } as const
  const messages = endLostCode(earlier, [{ role: 'user', content: [result, text] }], { uses, reason: 'message' })
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(messages[2]?.content).toMatchObject([{ text: expect.stringMatching(/^\[stopped\]/) as string }, text])
})

it('after the loss of a container without waiting code, the model only reads that the variables are gone', () => {
  const text = { type: 'text', text: 'And now?' } as const
  const messages = endLostCode(earlier, [{ role: 'user', content: [text] }], { uses: [], reason: 'expired' })
  expect(messages).toMatchObject([{ role: 'user', content: [{ text: expect.stringContaining('variables') }, text] }])
  expect(JSON.stringify(messages)).not.toContain('did not continue')
})

it('lost code of a paused turn is ended without a message', () => {
  const messages = endLostCode(earlier, [], { uses, reason: 'expired' })
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user'])
})
