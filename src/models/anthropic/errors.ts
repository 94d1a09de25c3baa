import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from '@anthropic-ai/sdk'
import { messageOf, PtcError } from '../../common/errors.js'
import { connectionFault, type ModelFault, timeoutFault, toModelError, unknownFault } from '../http/model-fault.js'
import { networkFaultOf } from '../http/network-errors.js'
import { apiFaultOf, type MessagesErrorContext } from './api-errors.js'
import { awsCredentialFaultOf, credentialFaultOf } from './credential-errors.js'

/**
 * Assigns a code to an error of the SDK or of the network. An abort by the caller and a PtcError are returned
 * unchanged.
 */
export function modelErrorOf(thrown: unknown, context: MessagesErrorContext): Error {
  if (PtcError.isInstance(thrown) || thrown instanceof APIUserAbortError) return thrown
  const fault = faultOf(thrown, context)
  return toModelError({ ...fault, hint: context.hints?.[fault.code] ?? fault.hint }, thrown, context)
}

function faultOf(thrown: unknown, context: MessagesErrorContext): ModelFault {
  if (thrown instanceof APIConnectionTimeoutError) return timeoutFault(context)
  if (thrown instanceof APIError && !(thrown instanceof APIConnectionError)) {
    return { ...apiFaultOf(thrown, context), headers: thrown.headers }
  }
  const network = awsCredentialFaultOf(thrown) ?? networkFaultOf(thrown, context)
  if (network !== undefined) return network
  if (thrown instanceof APIConnectionError) return connectionFault(context)
  if (context.isReading) {
    // Message of the SDK for Bedrock: a frame is incomplete, or can't be decoded.
    const hint = 'Usually passes by itself; the call is tried again.'
    return { code: 'MODEL_STREAM', message: `The model's reply can't be read: ${messageOf(thrown)}`, hint }
  }
  return credentialFaultOf(thrown) ?? unknownFault(messageOf(thrown))
}
