import { z } from 'zod'
import { approvalKey } from '../../common/calls/approvals.js'
import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { PtcError } from '../../common/errors.js'
import type { PtcClient } from '../../client/index.js'
import { waitingCalls } from '../../client/calls/open-waits.js'
import { isOffset } from '../../stream/index.js'

/** The decision of a person in the front end. */
export interface ApprovalResponse {
  /** The idempotency key of the call. */
  readonly call: string
  /** The response that requested the approval ended after this event. */
  readonly offset: string
  readonly approved: boolean
  readonly reason: string | undefined
}

/** The id of a request for approval. It comes back with the decision, so a server need not remember the request. */
export function approvalIdOf(call: string, offset: string): string {
  return `${call}@${offset}`
}

const responded = 'approval-responded'

/** Before a part is validated: an answer has many, and an error of each takes long. */
function isResponded(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'state' in part && part.state === responded
}

const respondedPart = z.object({
  state: z.literal(responded),
  approval: z.object({ id: z.string(), approved: z.boolean(), reason: z.string().optional() }),
})

/**
 * The decisions in the parts of an assistant message.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function approvalResponses(parts: readonly unknown[]): readonly ApprovalResponse[] {
  return parts.filter(isResponded).map((part) => {
    const { data } = respondedPart.safeParse(part)
    if (!data) throw new PtcError('RUN_INPUT_INVALID', 'a part that responds to an approval has no valid approval')
    const { id, approved, reason } = data.approval
    const [, call, offset] = /^([0-9a-f]+)@(.+)$/.exec(id) ?? []
    if (call === undefined || offset === undefined || !isOffset(offset))
      throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(id)} is not an id of an approval of this server`)
    return { call, offset, approved, reason }
  })
}

/** The tokens of the calls of a run that wait for their approval, by the keys of the calls. */
export async function waitingApprovals(ptc: PtcClient, workflowId: string): Promise<ReadonlyMap<string, string>> {
  const calls = waitingCalls(await ptc.waits({ run: workflowId }))
  const suffix = approvalKey('')
  return new Map(
    calls
      .filter(({ waitsFor }) => waitsFor === 'approval')
      .map(({ token }) => [decodeCompletionToken(token).idempotencyKey.slice(0, -suffix.length), token]),
  )
}

/** Decides on the calls that still wait. Skips calls that have a decision already, or whose code has ended. */
export async function decideApprovals(
  ptc: PtcClient,
  workflowId: string,
  responses: readonly ApprovalResponse[],
): Promise<void> {
  const waiting = await waitingApprovals(ptc, workflowId)
  for (const { call, approved, reason } of responses) {
    const token = waiting.get(call)
    if (token === undefined) continue
    try {
      await (approved ? ptc.approveCall(token) : ptc.denyCall(token, reason || 'a person denied it'))
    } catch (thrown) {
      if (!PtcError.isInstance(thrown) || thrown.code !== 'CALL_COMPLETED') throw thrown
    }
  }
}
