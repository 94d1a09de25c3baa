import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from '@anthropic-ai/sdk'
import { messageOf, PtcError } from '../../common/errors.js'
import { apiFaultOf } from './api-errors.js'
import { credentialFaultOf } from './credential-errors.js'
import type { ErrorContext, Fault } from './fault.js'
import { networkFaultOf } from './network-errors.js'
import { mentionsSecret, redact } from './redact.js'
import { retryAfterMsOf } from './retry-after.js'

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
  return (
    credentialFaultOf(thrown) ?? {
      code: 'INTERNAL',
      message: `The model call failed: ${messageOf(thrown)}`,
      hint: 'This is a defect; please report it.',
    }
  )
}
