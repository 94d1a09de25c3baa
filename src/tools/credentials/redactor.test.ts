import { describe, expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { Redactor } from './redactor.js'

const token = 'gh$&p/ä "x" 01'
const redactor = new Redactor(new Map([['github', token]]))

describe('redacted values of credentials', () => {
  it.each([
    ['as it is', `Bearer ${token}!`, 'Bearer [credential github]!'],
    ['in JSON', JSON.stringify({ token }), '{"token":"[credential github]"}'],
    [
      'in a URL',
      `https://example.com/?key=${encodeURIComponent(token)}`,
      'https://example.com/?key=[credential github]',
    ],
    ['in Base64', Buffer.from(token).toString('base64url'), '[credential github]'],
    ['twice', `${token}${token}`, '[credential github][credential github]'],
  ])('redacts the value of a credential %s', (_, text, expected) => {
    expect(redactor.text(text)).toBe(expected)
  })

  it('redacts the value of a credential in members, keys and errors of any depth', () => {
    const error = new Error(`no ${token}`, { cause: new Error(token) })
    const redacted = redactor.any({ a: [{ [token]: [token] }], error, n: 1 })
    expect(redacted).toMatchObject({ a: [{ '[credential github]': ['[credential github]'] }], n: 1 })
    expect(JSON.stringify(redacted)).not.toContain('01')
  })

  it('redacts the value of a credential in an error of the engine, which keeps its code', () => {
    const error = new PtcError('TOOL_OUTPUT_INVALID', token, { hint: token, retryAfterMs: 5 })
    const redacted = redactor.ptcError(error)
    expect(redacted).toMatchObject({ code: 'TOOL_OUTPUT_INVALID', message: '[credential github]', retryAfterMs: 5 })
    expect(redacted.hint).toBe('[credential github]')
    expect(redacted.stack).not.toContain(token)
  })

  it('redacts a long line of the value of a credential', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'
    const key = new Redactor(new Map([['key', `-----BEGIN KEY-----\n${line}\n-----END KEY-----`]]))
    expect(key.text(`a line: ${line}`)).toBe('a line: [credential key]')
    expect(key.text('-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----')
  })

  it('redacts the value of a credential that contains another value', () => {
    const both = new Redactor(
      new Map([
        ['short', 'abcdefgh'],
        ['long', 'abcdefgh-ijkl'],
      ]),
    )
    expect(both.text('abcdefgh abcdefgh-ijkl')).toBe('[credential short] [credential long]')
  })
})

it('redacting returns the same object when there is nothing to replace, and ends for a circular one', () => {
  const value = { a: [1, { b: 'c' }], error: new Error('x'), date: new Date(0) }
  expect(redactor.any(value)).toBe(value)
  const circular: Record<string, unknown> = { token }
  circular['self'] = circular
  expect(redactor.any(circular)).toEqual({ token: '[credential github]', self: '[circular]' })
})
