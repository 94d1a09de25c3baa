import { AnthropicError } from '@anthropic-ai/sdk'
import { messageOf } from '../../common/errors.js'
import type { Fault } from './fault.js'

const hint =
  'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment of the worker; keys are made at console.anthropic.com.'

/**
 * What the SDK finds wrong with credentials before it sends the request: errors without a class of their own, told apart
 * by their words. Undefined when the error is something else.
 */
export function credentialFaultOf(thrown: unknown): Fault | undefined {
  const message = messageOf(thrown)
  if (/could not resolve authentication method/i.test(message)) {
    return { code: 'MODEL_AUTH', message: 'There is no API key for the model.', hint }
  }
  if (/invalid header value|to a ByteString/i.test(message)) {
    const said = "The API key (or a custom header) has a character that can't be sent."
    return { code: 'MODEL_AUTH', message: said, hint: 'Set it again without line breaks and quotes.' }
  }
  if (!(thrown instanceof AnthropicError) && !/config file|credentials file|profile name/i.test(message))
    return undefined
  const said = `Credentials for the model can't be had: ${message}`
  if (isPassing(thrown))
    return { code: 'MODEL_CONNECTION', message: said, hint: 'Check that the token endpoint is up.' }
  return { code: 'MODEL_AUTH', message: said, hint }
}

/** Short-lived tokens are fetched over the network, which may be down for a while. */
function isPassing(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const status = 'statusCode' in thrown && typeof thrown.statusCode === 'number' ? thrown.statusCode : 0
  return status === 429 || status >= 500 || /failed to reach token endpoint/i.test(thrown.message)
}
