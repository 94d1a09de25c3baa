import type { Client } from '@temporalio/client'
import { isApprovalKey } from '../../common/calls/approvals.js'
import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { checkKeys } from '../start/check-input.js'
import { completeCall, type CompleteOptions } from './complete-call.js'

export interface ApproveOptions extends CompleteOptions {
  /** Arguments that replace those of the call. */
  readonly arguments?: JsonObject
  /**
   * When true, later calls of the same tool in the same run with the approved arguments need no approval; the tool's
   * `approval.remember` may cover more calls. Default false.
   */
  readonly remember?: boolean
}

export interface DenyOptions extends CompleteOptions {
  /**
   * When true, the calls that the run has completed before are compensated at once, the last one first; then the code
   * or the model gets the denial. Default false: a run ends when its code does not handle the denial, and its calls are
   * compensated then.
   */
  readonly compensate?: boolean
}

/** Approves a call that waits for its approval. */
export async function approveCall(client: Client, token: string, options: ApproveOptions = {}): Promise<void> {
  checkKeys('the options', options, ['arguments', 'remember', 'by'])
  const { arguments: args, remember = false, ...by } = options
  assertApprovalToken(token)
  const value = { approved: true, ...defined({ arguments: args }), ...(remember && { remember }) }
  await completeCall(client, token, { type: 'value', value }, by)
}

/** Denies a call that waits for its approval. */
export async function denyCall(
  client: Client,
  token: string,
  reason: string,
  options: DenyOptions = {},
): Promise<void> {
  checkKeys('the options', options, ['by', 'compensate'])
  const { compensate = false, ...by } = options
  assertApprovalToken(token)
  await completeCall(client, token, { type: 'failure', message: reason, ...(compensate && { compensate }) }, by)
}

/** Refuses the token of a deferred call: it would complete the call with an approval as its result. */
function assertApprovalToken(token: string): void {
  if (isApprovalKey(decodeCompletionToken(token).idempotencyKey)) return
  throw new PtcError('COMPLETION_TOKEN_INVALID', 'this is the token of a deferred call: it waits for its result', {
    hint: 'Complete the call, or give the token of a request for approval.',
  })
}
