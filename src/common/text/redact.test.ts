import { expect, it } from 'vitest'
import { safeRedact } from './redact.js'

it('a text is left out when the redaction hook throws, or returns no text', () => {
  const about = { kind: 'code' } as const
  const throwing = safeRedact(() => {
    throw new Error('secret')
  })
  for (const redact of [throwing, safeRedact(() => undefined as never), safeRedact(() => Promise.resolve('') as never)])
    expect(redact('secret', about)).toBe('[not redacted: the hook failed]')
  expect(safeRedact((text) => text.replace('secret', '…'))('a secret', about)).toBe('a …')
})
