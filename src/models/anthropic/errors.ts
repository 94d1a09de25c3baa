import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from '@anthropic-ai/sdk'
import { messageOf, PtcError } from '../../common/errors.js'
import { apiFaultOf } from './api-errors.js'
import { credentialFaultOf } from './credential-errors.js'
import type { ErrorContext, ModelFault } from './model-fault.js'
import { networkFaultOf } from './network-errors.js'
import { mentionsSecret, redact } from './redact.js'
import { retryAfterMsOf } from './retry-after.js'

/**
 * Assigns a code to an error of the SDK or of the network. An abort by the caller and a PtcError are returned
 * unchanged.
 */
export function modelErrorOf(thrown: unknown, context: ErrorContext): Error {
  if (PtcError.isInstance(thrown) || thrown instanceof APIUserAbortError) return thrown
  const { code, message, hint, retryAfterMs } = faultOf(thrown, context)
  return new PtcError(code, redact(message, context.secrets), {
    hint,
    // Message and stack of a cause are recorded in the workflow's history.
    ...(mentionsSecret(thrown, context.secrets) ? {} : { cause: thrown }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function faultOf(thrown: unknown, context: ErrorContext): ModelFault & { readonly retryAfterMs?: number | undefined } {
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
  return (
    credentialFaultOf(thrown) ?? {
      code: 'INTERNAL',
      message: `The model call failed: ${messageOf(thrown)}`,
      hint: 'This is a defect; please report it.',
    }
  )
}
