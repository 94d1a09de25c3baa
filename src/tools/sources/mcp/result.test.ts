import { expect, it } from 'vitest'
import { resultOf } from './result.js'

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
