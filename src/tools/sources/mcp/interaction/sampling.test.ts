import { expect, it } from 'vitest'
import { readSampling, toSamplingResult } from './sampling.js'

const said = (text: string) => ({ role: 'user', content: { type: 'text', text } })
const image = (data: string) => ({ role: 'user', content: { type: 'image', data, mimeType: 'image/png' } })
const png = (bytes: number) => `iVBORw0KGgoA${'A'.repeat(bytes)}`

it('a request keeps its texts, images and settings, with well-formed texts', () => {
  const messages = [said('a\uD800'), { role: 'assistant', content: [{ type: 'text', text: 'b' }] }, image(png(8))]
  const settings = { maxTokens: 10.9, temperature: 1, stopSequences: ['END'], systemPrompt: '\uDC00' }
  expect(readSampling({ messages, ...settings, includeContext: 'allServers', modelPreferences: {} })).toEqual({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a\uFFFD' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
      { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(8) } }] },
    ],
    maxTokens: 10,
    temperature: 1,
    stopSequences: ['END'],
    system: '\uFFFD',
  })
})

it.each<[string, object, string]>([
  ['no messages', { messages: [] }, 'is not valid'],
  ['1,000 messages', { messages: Array.from({ length: 1_000 }, () => said('a')) }, 'is not valid'],
  ['no number of tokens', { maxTokens: Number.NaN }, 'is not valid'],
  ['a role of its own', { messages: [{ ...said('a'), role: 'system' }] }, 'is not valid'],
  ['a text of 2 MB', { messages: [said('ä'.repeat(1_000_000))] }, 'may have 1048576 bytes of text'],
  ['a long system prompt', { systemPrompt: 'a'.repeat(1_100_000) }, 'may have 1048576 bytes of text'],
  ['a sound', { messages: [{ role: 'user', content: { type: 'audio', data: 'UklGRg==' } }] }, 'may have texts, and'],
  ['a picture of another type', { messages: [image('QUJD')] }, 'may have texts, and images of type PNG'],
  ['a PDF', { messages: [image('JVBERi0x')] }, 'may have texts, and images of type PNG'],
  ['a picture that is no base64', { messages: [image('iVBORw0KGgo?')] }, 'may have texts, and images of type PNG'],
  ['a large picture', { messages: [image(png(8_000_000))] }, 'an image is too large'],
  ['30 pictures', { messages: Array.from({ length: 30 }, () => image(png(8))) }, 'may have 20 images'],
  ['tools', { tools: [] }, 'may have no tools'],
  ['a result of a tool', { messages: [{ role: 'user', content: { type: 'tool_result' } }] }, 'may have texts, and'],
])('a request with %s is refused', (_what, params, message) => {
  expect(() => readSampling({ messages: [said('a')], maxTokens: 10, ...params })).toThrow(message)
})

it('the problem of a request is short, whatever the request is', () => {
  const messages = Array.from({ length: 200 }, () => ({ role: 'x'.repeat(1_000), content: 7 }))
  expect(() => readSampling({ messages, maxTokens: 10 })).toThrow(/^.{1,520}$/s)
})

it('a reply has the stop reasons of MCP, and others as they are', () => {
  const reply = { text: 'yes', model: 'm' }
  const of = (stopReason: string) => toSamplingResult({ ...reply, stopReason }).stopReason
  expect(['end_turn', 'stop_sequence', 'max_tokens', 'refusal'].map(of)).toEqual([
    'endTurn',
    'stopSequence',
    'maxTokens',
    'refusal',
  ])
})
