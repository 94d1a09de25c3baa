import {
  AnthropicError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
} from '@anthropic-ai/sdk'
import { messageOf, PtcError } from '../../common/errors.js'
import { apiFaultOf } from './api-errors.js'
import type { ErrorContext, Fault } from './fault.js'
import { networkFaultOf } from './network-errors.js'
import { mentionsSecret, redact } from './redact.js'
import { retryAfterMsOf } from './retry-after.js'

const credentialsHint =
  'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment of the worker; keys are made at console.anthropic.com.'

/**
 * The one place where errors of the SDK and of the network get their code. An abort by the caller, and a
 * PtcError, are returned as they are.
 */
export function modelErrorOf(thrown: unknown, context: ErrorContext): Error {
  if (PtcError.isInstance(thrown) || thrown instanceof APIUserAbortError) return thrown
  const { code, message, hint, retryAfterMs } = faultOf(thrown, context)
  return new PtcError(code, redact(message, context.secrets), {
    hint,
    // A cause goes into the workflow's history, message and stack.
    ...(mentionsSecret(thrown, context.secrets) ? {} : { cause: thrown }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function faultOf(thrown: unknown, context: ErrorContext): Fault & { readonly retryAfterMs?: number | undefined } {
  if (thrown instanceof APIConnectionTimeoutError) {
    const hint = 'Usually passes; if not, check network and proxies.'
    return { code: 'MODEL_TIMEOUT', message: `The model API at ${context.baseURL} did not answer in time.`, hint }
  }
  if (thrown instanceof APIError && !(thrown instanceof APIConnectionError)) {
    const retryAfterMs = thrown.headers === undefined ? undefined : retryAfterMsOf(thrown.headers)
    return { ...apiFaultOf(thrown, context), retryAfterMs }
  }
  const network = networkFaultOf(thrown)
  if (network !== undefined) {
    return { ...network, message: `Can't reach the model API at ${context.baseURL}: ${network.message}.` }
  }
  if (thrown instanceof APIConnectionError) {
    const hint = 'Check network and proxies.'
    return { code: 'MODEL_CONNECTION', message: `Can't reach the model API at ${context.baseURL}.`, hint }
  }
  return beforeSendingFaultOf(thrown)
}

/** What the SDK finds wrong before it sends anything has no class of its own. */
function beforeSendingFaultOf(thrown: unknown): Fault {
  const message = messageOf(thrown)
  if (/could not resolve authentication method/i.test(message)) {
    return { code: 'MODEL_AUTH', message: 'There is no API key for the model.', hint: credentialsHint }
  }
  if (/invalid header value/i.test(message)) {
    const said = "The API key (or a custom header) has a character that can't be sent."
    return { code: 'MODEL_AUTH', message: said, hint: 'Set it again without line breaks and quotes.' }
  }
  if (thrown instanceof AnthropicError) {
    return { code: 'MODEL_AUTH', message: `Credentials for the model can't be had: ${message}`, hint: credentialsHint }
  }
  return { code: 'INTERNAL', message: `The model call failed: ${message}`, hint: 'This is a defect; please report it.' }
}
