import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from '@anthropic-ai/sdk'
import { messageOf, PtcError } from '../../common/errors.js'
import { type ErrorContext, type ModelFault, timeoutFault, toModelError, unknownFault } from '../http/model-fault.js'
import { networkFaultOf } from '../http/network-errors.js'
import { apiFaultOf } from './api-errors.js'
import { credentialFaultOf } from './credential-errors.js'

/**
 * Assigns a code to an error of the SDK or of the network. An abort by the caller and a PtcError are returned
 * unchanged.
 */
export function modelErrorOf(thrown: unknown, context: ErrorContext): Error {
  if (PtcError.isInstance(thrown) || thrown instanceof APIUserAbortError) return thrown
  return toModelError(faultOf(thrown, context), thrown, context)
}

function faultOf(thrown: unknown, context: ErrorContext): ModelFault {
  if (thrown instanceof APIConnectionTimeoutError) return timeoutFault(context)
  if (thrown instanceof APIError && !(thrown instanceof APIConnectionError)) {
    return { ...apiFaultOf(thrown, context), headers: thrown.headers }
  }
  const network = networkFaultOf(thrown, context)
  if (network !== undefined) return network
  if (thrown instanceof APIConnectionError) {
    const hint = 'Check network and proxies.'
    return { code: 'MODEL_CONNECTION', message: `Can't reach the model API at ${context.baseURL}.`, hint }
  }
  return credentialFaultOf(thrown) ?? unknownFault(messageOf(thrown))
}
