import { takeStart } from '../../../common/text/text.js'
import { denied } from '../admission.js'
import { reportEnd } from '../remote/report-call.js'
import type { Stage } from '../run-call.js'

/** The start of a summary that stays in front of the reason for an approval. */
const summaryCharacters = 80

/** Refuses a call that a rule denies, and marks a call that a rule lets a person decide about. */
export const dataFlow: Stage = async (call, next) => {
  const { calls, tool, caller, described } = call
  const decision = calls.dataFlow.decide({ tool: tool.name }, calls.dataFlow.ofCaller(caller))
  if (decision.action === 'ask') {
    call.requireApproval(`${takeStart(described.summary, summaryCharacters)} · ${decision.reason}`)
  }
  // A call that waited in the execution before this one got its arguments before the later data.
  if (decision.action !== 'deny' || calls.waiting.get(call.idempotencyKey)) return next(call)
  const { reason } = decision
  await reportEnd(call, { type: 'call.refused', status: 'denied', digest: described.digest, reason })
  return denied(`a rule of the configuration denies ${reason}`)
}
