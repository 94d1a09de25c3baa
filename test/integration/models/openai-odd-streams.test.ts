import { expect, it } from 'vitest'
import { isolateTests } from './harness.js'
import { chunk, done, event, replyTo } from './openai-harness.js'

isolateTests()

const callChunk = (...tool_calls: readonly object[]) => chunk({ role: 'assistant', content: null, tool_calls })

const stop = chunk({}, 'stop') + done
const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Let me think.' }] }
const usage = { prompt_tokens: '12', completion_tokens: null, prompt_tokens_details: { cached_tokens: -1 } }
it.each([
  ['no finish reason before [DONE]', chunk({ content: 'Hi' }) + done],
  [
    'lists as content, as those of Mistral',
    chunk({ content: [thinking, { type: 'text', text: 'H' }] }) + chunk({ content: 'i' }) + stop,
  ],
  ['odd parts of content', chunk({ content: [null, 7, { type: 'reference' }, { text: 'Hi' }] }) + stop],
  ['null in the place of texts', event({ model: null, choices: [{ delta: { content: 'Hi', role: null } }] }) + stop],
  ['odd usage', event({ choices: [{ delta: { content: 'Hi' } }], usage }) + stop],
  ['usage that is a text', event({ choices: [{ delta: { content: 'Hi' } }], usage: 'many' }) + stop],
  ['an odd finish reason', chunk({ content: 'Hi' }) + event({ choices: [{ delta: null, finish_reason: 7 }] }) + done],
])('reads a chat completion that has %s', async (_what, bytes) => {
  expect(await replyTo(bytes)).toMatchObject({ content: [{ type: 'text', text: 'Hi' }], stopReason: 'end_turn' })
})

it('leaves a call without a name, or with invalid arguments, for the model to correct', async () => {
  const calls =
    callChunk({ index: 0, id: 'call_1' }) + callChunk({ index: 1, function: { name: 'add', arguments: [1] } })
  const { content } = await replyTo(calls + chunk({}, 'tool_calls') + done)
  expect(content).toMatchObject([
    { name: 'unnamed', input: {} },
    { name: 'add', input: { invalid_json: '[1]' } },
  ])
})
