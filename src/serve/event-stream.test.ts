import { expect, it } from 'vitest'
import { encodeEvent } from './event-stream.js'

it('encodes the data of an event as JSON on one line, with an id', () => {
  expect(encodeEvent({ text: 'a\nb\r\n\u2028' }, 'x:1.0')).toBe('id: x:1.0\ndata: {"text":"a\\nb\\r\\n\u2028"}\n\n')
  expect(encodeEvent({ text: '' })).toBe('data: {"text":""}\n\n')
})

it('sends the text of an event unchanged', () => {
  expect(encodeEvent('[DONE]')).toBe('data: [DONE]\n\n')
})

it("an id of an event can't begin another field", () => {
  expect(encodeEvent(1, 'a\ndata: 2\r\0')).toBe('id: adata: 2\ndata: 1\n\n')
})
