import { expect, it } from 'vitest'
import { resultOf, toModelText } from './result.js'

const text = (value: string) => ({ type: 'text', text: value }) as const

it('returns the text of a result, or its blocks without annotations when there is more than text', () => {
  expect(resultOf({ content: [] }, false)).toBe('')
  expect(resultOf({ content: [text('a'), text('b')] }, false)).toBe('a\nb')
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations: { priority: 1 } } as const
  expect(resultOf({ content: [text('a'), image] }, false)).toEqual([
    { type: 'text', text: 'a' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ])
})

it('returns the structured content of a tool with an output schema, also when an older server sends it as text', () => {
  expect(resultOf({ content: [text('{"a":2}')], structuredContent: { a: 1 } }, true)).toEqual({ a: 1 })
  expect(resultOf({ content: [text('{"a":2}')] }, true)).toEqual({ a: 2 })
  expect(() => resultOf({ content: [text('no JSON')] }, true)).toThrow('no structured content')
})

it('throws the text of an error, whatever the output schema is', () => {
  for (const hasSchema of [false, true]) {
    const failed = () => resultOf({ content: [text('no such page')], isError: true }, hasSchema)
    expect(failed).toThrow(expect.objectContaining({ name: 'ToolError', message: 'no such page' }))
  }
  expect(() => resultOf({ content: [], isError: true }, false)).toThrow('reported an error without a text')
})

it('names images where they are, and other blocks by what a model can use of them', () => {
  const found: string[] = []
  const addImage = (data: string) => `image ${found.push(data)}`
  const text = toModelText(
    [
      { type: 'text', text: 'before' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations: {} },
      { type: 'resource', resource: { uri: 'a:1', mimeType: 'image/png', blob: 'aGkh' } },
      { type: 'resource', resource: { uri: 'a:2', text: 'of a resource' } },
      { type: 'resource', resource: { uri: 'a:3', mimeType: 'application/pdf', blob: 'A'.repeat(4_000) } },
      { type: 'audio', data: 'A'.repeat(8_000), mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'a:4', name: 'link' },
      { type: 'image' },
      { type: 'resource', resource: 3 },
      { type: 'later', more: [1] },
    ],
    addImage,
  )
  expect(found).toEqual(['aGk=', 'aGkh', ''])
  expect(text.split('\n')).toEqual([
    'before',
    '[image 1]',
    '[resource a:1] [image 2]',
    '[resource a:2]',
    'of a resource',
    '[resource a:3] [application/pdf, 2.9 KB: only code gets it]',
    '[audio, audio/wav, 5.9 KB: only code gets it]',
    '{"type":"resource_link","uri":"a:4","name":"link"}',
    '[image 3]',
    '{"type":"resource","resource":3}',
    '{"type":"later","more":[1]}',
  ])
})
