import { expect, test } from 'vitest'
import { limitReply } from './limit-reply.js'
import { wholeBlock, type ReplyBlock } from './reply-block.js'

function text(value: string): ReplyBlock {
  return { opening: { type: 'text', text: '' }, streamed: { delta: 'text_delta', text: value } }
}

function call(json: string): ReplyBlock {
  return { opening: { type: 'tool_use', name: 'x', input: {} }, streamed: { delta: 'input_json_delta', text: json } }
}

test('a reply that fits stays as it is', () => {
  const blocks = [text('Hello'), call('{"a":1}')]

  expect(limitReply(blocks, 100, [])).toEqual({ blocks })
})

test('a reply over max_tokens is cut, even in the middle of a call', () => {
  const limited = limitReply([text('1234567'), call('{"code":"print(1)"}'), text('never')], 4, [])

  expect(limited.stopReason).toBe('max_tokens')
  expect(limited.blocks).toEqual([text('1234567'), call('{"code')])
  expect(limited.blocks.map(wholeBlock)).toMatchObject([{ text: '1234567' }, { input: {} }])
})

test('text ends before the first stop sequence', () => {
  const limited = limitReply([text('one STOP two END'), text('never')], 100, ['END', 'STOP'])

  expect(limited).toEqual({ blocks: [text('one ')], stopReason: 'stop_sequence', stopSequence: 'STOP' })
})
