import { expect, it } from 'vitest'
import { externalValue, isExternal, refOf } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import { loadMedia } from './media.js'

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')
const signal = new AbortController().signal

/** Values that a store has, by their hash. */
function valuesWith(stored: Readonly<Record<string, JsonValue>>) {
  return {
    load: (value: JsonValue) =>
      Promise.resolve(isExternal(value) ? (stored[refOf(value)?.sha256 ?? ''] ?? null) : value),
  }
}

const image = (sha256: string) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: externalValue({ sha256, bytes: 1, preview: '' }) },
})
const text = { type: 'text', text: 'What is it?' }

it('loadMedia loads the data of images and documents, and leaves other blocks unchanged', async () => {
  const inline = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'inline' } }
  const messages = [
    { role: 'user', content: [image('a'), inline, text] },
    { role: 'assistant', content: 'A square.' },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
  ]
  const loaded = await loadMedia(valuesWith({ a: png }), messages, signal)
  expect(loaded[0]?.content).toEqual([{ ...image('a'), source: { ...inline.source, data: png } }, inline, text])
  expect(loaded.slice(1)).toEqual(messages.slice(1))
})

it.each([
  ['a text', 'the secret of somebody'],
  ['another kind of file', Buffer.from('%PDF-1.7').toString('base64')],
  ['an object', { data: png }],
])('loadMedia does not send %s as an image', async (_what, value) => {
  const messages = [{ role: 'user', content: [image('a')] }]
  await expect(loadMedia(valuesWith({ a: value }), messages, signal)).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: 'an attachment is not of type "image/png"',
  })
})
