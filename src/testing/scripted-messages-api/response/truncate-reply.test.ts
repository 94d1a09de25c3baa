import { expect, test } from 'vitest'
import { truncateReply } from './truncate-reply.js'
import { toContentBlock, type ReplyBlock } from './reply-block.js'

function text(value: string): ReplyBlock {
  return { opening: { type: 'text', text: '' }, streamed: { delta: 'text_delta', text: value } }
}

function call(json: string): ReplyBlock {
  return { opening: { type: 'tool_use', name: 'x', input: {} }, streamed: { delta: 'input_json_delta', text: json } }
}

test('keeps a scripted reply within the limit unchanged', () => {
  const blocks = [text('Hello'), call('{"a":1}')]

  expect(truncateReply(blocks, 100, [])).toEqual({ blocks })
})

test('cuts a scripted reply at max_tokens, even in the middle of a call', () => {
  const limited = truncateReply([text('1234567'), call('{"code":"print(1)"}'), text('never')], 4, [])

  expect(limited.stopReason).toBe('max_tokens')
  expect(limited.blocks).toEqual([text('1234567'), call('{"code')])
  expect(limited.blocks.map(toContentBlock)).toMatchObject([{ text: '1234567' }, { input: {} }])
})

test('cuts the text of a scripted reply before the first stop sequence', () => {
  const limited = truncateReply([text('one STOP two END'), text('never')], 100, ['END', 'STOP'])

  expect(limited).toEqual({ blocks: [text('one ')], stopReason: 'stop_sequence', stopSequence: 'STOP' })
})
