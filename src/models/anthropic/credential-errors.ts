import { AnthropicError } from '@anthropic-ai/sdk'
import { messageOf } from '../../common/errors.js'
import type { ModelFault } from '../http/model-fault.js'
import { causesOf } from '../http/redact.js'

const hint =
  'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment of the worker; keys are made at console.anthropic.com.'

/**
 * The fault of a credentials error that the SDK throws before it sends the request. These errors have no class of their
 * own and are recognized by their messages. Undefined for other errors.
 */
export function credentialFaultOf(thrown: unknown): ModelFault | undefined {
  const message = messageOf(thrown)
  if (isMissingCredentials(thrown)) {
    return { code: 'MODEL_AUTH', message: 'There is no API key for the model.', hint }
  }
  if (/invalid header value|to a ByteString/i.test(message)) {
    const problem = "The API key (or a custom header) has a character that can't be sent."
    return { code: 'MODEL_AUTH', message: problem, hint: 'Set it again without line breaks and quotes.' }
  }
  if (!(thrown instanceof AnthropicError) && !/config file|credentials file|profile name/i.test(message))
    return undefined
  const problem = `Credentials for the model can't be obtained: ${message}`
  if (isTransient(thrown))
    return { code: 'MODEL_CONNECTION', message: problem, hint: 'Check that the token endpoint is up.' }
  return { code: 'MODEL_AUTH', message: problem, hint }
}

/** The fault of missing credentials for AWS's libraries. Undefined for other errors. */
export function awsCredentialFaultOf(thrown: unknown): ModelFault | undefined {
  const cause = causesOf(thrown).find(({ name }) => name === 'CredentialsProviderError')
  return cause && { code: 'MODEL_AUTH', message: `There are no AWS credentials for the model: ${cause.message}`, hint }
}

/** Whether the SDK found no credentials at all. */
export function isMissingCredentials(thrown: unknown): boolean {
  return /could not resolve authentication method/i.test(messageOf(thrown))
}

/** Whether the error may be temporary: short-lived tokens are fetched over the network. */
function isTransient(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const status = 'statusCode' in thrown && typeof thrown.statusCode === 'number' ? thrown.statusCode : 0
  return status === 429 || status >= 500 || /failed to reach token endpoint/i.test(thrown.message)
}
