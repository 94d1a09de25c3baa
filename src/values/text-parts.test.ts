import { expect, it } from 'vitest'
import { externalValue, isExternal } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import { renderTextParts } from './text-parts.js'

it('output in parts is joined to the text that a terminal shows', async () => {
  const part = (text: string) => externalValue({ sha256: text, bytes: text.length, preview: '' })
  const values = {
    load: (value: JsonValue) => Promise.resolve(isExternal(value) ? value['ptc.value'].sha256 : value),
    excerpt: () => Promise.reject(new Error('unused')),
  }
  const bar = Array.from({ length: 1_000 }, (_, done) => `\r${done} of 999`).join('')
  const parts = ['rows: 3\n 10', part(bar), '\r', part('done\u001B['), 'K\nRESULT: 17']
  const text = { parts, limit: 100, suffix: '', isTerminal: true } as const
  const { signal } = new AbortController()
  expect(await renderTextParts(values, text, signal)).toBe('rows: 3\ndone\nRESULT: 17')
  const { isTerminal: _, ...raw } = text
  expect(await renderTextParts(values, raw, signal)).toContain('characters')
})
