import { expect, it } from 'vitest'
import { decodeCompletionToken, encodeCompletionToken } from './completion-token.js'

const token = {
  namespace: 'default',
  workflowId: 'agent-ümlaut/1',
  firstExecutionRunId: 'run',
  idempotencyKey: 'key',
  signature: 'signature',
}

it('an encoded completion token may be a part of a URL', () => {
  const text = encodeCompletionToken(token)
  expect(text).toMatch(/^[\w-]+$/)
  expect(decodeCompletionToken(text)).toEqual(token)
})

it.each([
  '',
  'abc',
  '!',
  Buffer.from('[1,"default"]').toString('base64url'),
  Buffer.from('[2,"","","","",""]').toString('base64url'),
  undefined,
])('decodeCompletionToken rejects %j', (text) => {
  expect(() => decodeCompletionToken(text)).toThrow(expect.objectContaining({ code: 'COMPLETION_TOKEN_INVALID' }))
})
