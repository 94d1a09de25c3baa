import {
  AnthropicError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
} from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { PtcError, type ErrorCode } from '../../common/errors.js'
import { modelErrorOf } from './errors.js'

const secret = 'very-secret-key'
const context = { baseURL: 'https://api.example', model: 'claude-x', secrets: [secret] }

function classify(thrown: unknown): PtcError {
  const error = modelErrorOf(thrown, context)
  if (!PtcError.isInstance(error)) throw new Error('not a PtcError', { cause: error })
  return error
}

function apiError(status: number, type: string, message: string, headers: Record<string, string> = {}, details = {}) {
  const body = { type: 'error', error: { type, message, details } }
  return APIError.generate(status, body, undefined, new Headers({ 'request-id': 'req_9', ...headers }))
}

function systemError(code: string, message = code): Error {
  const cause = Object.assign(new Error(message), { code })
  return new APIConnectionError({ cause: new TypeError('fetch failed', { cause }) })
}

describe('a request with a container', () => {
  const container = (expiresAt: string) => ({ ...context, container: { id: 'container_1', expiresAt } })
  const [past, future] = [container('2020-01-01T00:00:00Z'), container('2999-01-01T00:00:00Z')]
  const badRequest = apiError(400, 'invalid_request_error', 'container: container_1 has expired')

  it.each([
    ['a bad request', badRequest, future],
    ['a container that is not found', apiError(404, 'not_found_error', 'No container container_1'), future],
    ['an untyped 500 after the expiry', apiError(500, 'api_error', 'Internal server error'), past],
  ])('counts %s as a lost container', (_what, thrown, where) => {
    expect(modelErrorOf(thrown, where)).toMatchObject({ code: 'MODEL_CONTAINER_EXPIRED', retryable: false })
  })

  it.each<[string, unknown, ErrorCode]>([
    ['a 500 before the expiry', apiError(500, 'api_error', 'Internal server error'), 'MODEL_SERVER'],
    [
      'a prompt that is too long',
      apiError(400, 'invalid_request_error', 'prompt is too long'),
      'MODEL_CONTEXT_TOO_LONG',
    ],
    ['an unknown model', apiError(404, 'not_found_error', 'model: x'), 'MODEL_NOT_FOUND'],
    ['an overloaded API', apiError(529, 'overloaded_error', 'Overloaded'), 'MODEL_OVERLOADED'],
  ])('does not attribute %s to the container', (_what, thrown, code) => {
    expect(modelErrorOf(thrown, future)).toMatchObject({ code })
  })

  it('only a request with a container can lose its container', () => {
    expect(modelErrorOf(badRequest, context)).toMatchObject({ code: 'MODEL_BAD_REQUEST' })
  })
})

describe('an HTTP status', () => {
  it('suggests a model with a similar name', () => {
    const thrown = apiError(404, 'not_found_error', 'model: claude-sonet-5')
    const error = modelErrorOf(thrown, { ...context, model: 'claude-sonet-5' })
    expect(error).toMatchObject({ hint: expect.stringContaining('Did you mean "claude-sonnet-5"?') as string })
  })

  it.each<[number, string, ErrorCode, boolean]>([
    [400, 'invalid_request_error', 'MODEL_BAD_REQUEST', false],
    [401, 'authentication_error', 'MODEL_AUTH', false],
    [402, 'billing_error', 'MODEL_AUTH', false],
    [403, 'permission_error', 'MODEL_AUTH', false],
    [404, 'not_found_error', 'MODEL_NOT_FOUND', false],
    [408, 'timeout_error', 'MODEL_TIMEOUT', true],
    [409, 'conflict_error', 'MODEL_SERVER', true],
    [413, 'request_too_large', 'MODEL_BAD_REQUEST', false],
    [418, 'invalid_request_error', 'MODEL_BAD_REQUEST', false],
    [422, 'invalid_request_error', 'MODEL_BAD_REQUEST', false],
    [429, 'rate_limit_error', 'MODEL_RATE_LIMIT', true],
    [500, 'api_error', 'MODEL_SERVER', true],
    [502, 'api_error', 'MODEL_SERVER', true],
    [503, 'overloaded_error', 'MODEL_OVERLOADED', true],
    [504, 'timeout_error', 'MODEL_TIMEOUT', true],
    [529, 'overloaded_error', 'MODEL_OVERLOADED', true],
  ])('the error with status %i %s is %s (retryable: %s)', (status, type, code, retryable) => {
    const error = classify(apiError(status, type, 'Because.'))
    expect(error).toMatchObject({ code, retryable, hint: expect.any(String) as string })
    expect(error.message).toBe(`The model API answered ${status}: Because. (request req_9)`)
  })

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000, decrease input length',
  ])('a 400 for a conversation that does not fit has its own code: %s', (message) => {
    expect(classify(apiError(400, 'invalid_request_error', message)).code).toBe('MODEL_CONTEXT_TOO_LONG')
  })

  it('a spend limit is not retryable, with any status', () => {
    const details = { error_code: 'enforced_spend_limit_reached' }
    const error = classify(apiError(429, 'rate_limit_error', 'Spend limit reached.', {}, details))
    expect(error).toMatchObject({ code: 'MODEL_AUTH', hint: expect.stringContaining('credit') as string })
  })

  it('an error keeps the retry delay', () => {
    expect(classify(apiError(429, 'rate_limit_error', '', { 'retry-after': '3' })).retryAfterMs).toBe(3_000)
    expect(classify(apiError(529, 'overloaded_error', '')).retryAfterMs).toBeUndefined()
  })

  it('an error whose body is the page of a proxy becomes one short line', () => {
    const page = `<html>\n${'<p>bad gateway</p>\n'.repeat(100)}</html>`
    const { message } = classify(APIError.generate(502, undefined, page, new Headers()))
    expect(message).toContain('<html> <p>bad gateway</p>')
    expect(message.length).toBeLessThan(500)
    expect(message).not.toContain('\n')
  })
})

describe('a network error', () => {
  it.each<[string, ErrorCode, string]>([
    ['ECONNREFUSED', 'MODEL_CONNECTION', 'connection refused'],
    ['ECONNRESET', 'MODEL_CONNECTION', 'cut'],
    ['UND_ERR_SOCKET', 'MODEL_CONNECTION', 'cut'],
    ['ENOTFOUND', 'MODEL_CONNECTION', 'host not found'],
    ['EAI_AGAIN', 'MODEL_CONNECTION', 'host not found'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'MODEL_CONNECTION', 'TLS'],
    ['CERT_HAS_EXPIRED', 'MODEL_CONNECTION', 'TLS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'MODEL_CONNECTION', 'TLS'],
    ['UND_ERR_BODY_TIMEOUT', 'MODEL_TIMEOUT', 'in time'],
    ['ETIMEDOUT', 'MODEL_TIMEOUT', 'in time'],
  ])('the network error %s is %s', (code, expected, says) => {
    const error = classify(systemError(code))
    expect(error).toMatchObject({ code: expected, retryable: true })
    expect(error.message).toContain(says)
    expect(error.message).toContain(code)
    expect(error.message).toContain('https://api.example')
  })

  it('finds a network error in the errors of all addresses', () => {
    const tried = new AggregateError([Object.assign(new Error('v6'), { code: 'ECONNREFUSED' })], '')
    expect(classify(new TypeError('fetch failed', { cause: tried })).message).toContain('ECONNREFUSED')
  })

  it.each([new TypeError('terminated'), new APIConnectionError({ message: 'odd' })])(
    'assumes a network error for %s',
    (thrown) => {
      expect(classify(thrown).code).toBe('MODEL_CONNECTION')
    },
  )

  it('a timeout of the SDK is MODEL_TIMEOUT', () => {
    expect(classify(new APIConnectionTimeoutError()).code).toBe('MODEL_TIMEOUT')
  })
})

describe('other errors', () => {
  it('returns an abort by the caller and a PtcError unchanged', () => {
    const abort = new APIUserAbortError()
    const known = new PtcError('MODEL_STREAM', 'x')
    expect(modelErrorOf(abort, context)).toBe(abort)
    expect(modelErrorOf(known, context)).toBe(known)
  })

  it('a defect is INTERNAL, not a network error', () => {
    expect(classify(new TypeError('x is not a function'))).toMatchObject({ code: 'INTERNAL', retryable: false })
    expect(classify('thrown text').message).toContain('thrown text')
  })
})

describe('credentials', () => {
  it.each<[string, Error, ErrorCode]>([
    ['none', new Error('Could not resolve authentication method. Expected one of apiKey'), 'MODEL_AUTH'],
    ['unsendable', new TypeError('Headers.append: "Bearer a\nb" is an invalid header value.'), 'MODEL_AUTH'],
    ['not Latin', new TypeError('Cannot convert argument to a ByteString because …'), 'MODEL_AUTH'],
    ['a broken profile', new Error('failed to parse config file /x/default.json: SyntaxError'), 'MODEL_AUTH'],
    ['a refused token', Object.assign(new AnthropicError('no'), { statusCode: 403 }), 'MODEL_AUTH'],
    ['an endpoint in trouble', Object.assign(new AnthropicError('no'), { statusCode: 503 }), 'MODEL_CONNECTION'],
    ['an endpoint not there', new AnthropicError('Failed to reach token endpoint https://x'), 'MODEL_CONNECTION'],
  ])('classifies the credentials error: %s', (_what, thrown, code) => {
    expect(classify(thrown)).toMatchObject({ code, hint: expect.any(String) as string })
  })
})

describe('secrets', () => {
  it('secrets appear neither in the message nor in the cause of an error', () => {
    const error = classify(apiError(401, 'authentication_error', `invalid key ${secret} or sk-ant-api03-abcdef`))
    expect(error.message).toContain('invalid key [redacted] or [redacted]')
    expect(error.cause).toBeUndefined()
  })

  it('a secret in a nested cause removes the whole cause', () => {
    const cause = new Error('outer', { cause: new Error(`Bearer ${secret}`) })
    expect(classify(new APIConnectionError({ cause })).cause).toBeUndefined()
  })

  it('a cause without secrets stays unchanged', () => {
    const thrown = apiError(500, 'api_error', 'x')
    expect(classify(thrown).cause).toBe(thrown)
  })
})
