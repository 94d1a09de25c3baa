import { expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { toApiErrorReply } from './errors.js'

it('shows the message only of errors that a client can fix', () => {
  const replyOf = (thrown: unknown) => toApiErrorReply(thrown, 'req_1')
  expect(replyOf(new PtcError('MODEL_NOT_FOUND', 'there is no model m', { hint: 'Name another.' }))).toEqual({
    status: 404,
    body: {
      type: 'error',
      error: { type: 'not_found_error', message: 'MODEL_NOT_FOUND: there is no model m Name another.' },
      request_id: 'req_1',
    },
  })
  expect(replyOf(new PtcError('LIMIT_EXCEEDED', 'the work ended: turn_limit'))).toMatchObject({
    status: 500,
    body: { error: { type: 'api_error', message: 'LIMIT_EXCEEDED: the work ended: turn_limit' } },
  })
  expect(replyOf(new PtcError('MODEL_AUTH', 'check ANTHROPIC_API_KEY'))).toMatchObject({
    status: 500,
    body: { error: { message: expect.not.stringContaining('ANTHROPIC_API_KEY') as string } },
  })
  const { message } = replyOf(new PtcError('MODEL_BAD_REQUEST', 'x'.repeat(100_000))).body.error
  expect(message.length).toBeLessThanOrEqual(2_001)
})
