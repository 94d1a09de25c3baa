import { CancellationScope, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow'
import { runAgent } from 'durable-ptc/workflow'
import type * as activities from './activities.js'
import type { triage } from './agents.js'
import type { Ticket } from './ticket.js'

const { refund, reopen, sendReply } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' })

/** Lets an agent answer a ticket, and does what the answer says. */
export async function handleTicket(ticket: Ticket): Promise<string> {
  const { id, customer, text } = ticket
  try {
    // The child has the search attributes of this workflow. When this workflow is cancelled, so is the child.
    const result = await runAgent<typeof triage>(
      { agent: 'triage', question: text, input: { id, customer, text }, context: { tenant: customer } },
      { workflowId: `${workflowInfo().workflowId}/triage`, workflowExecutionTimeout: '10m' },
    )
    if (result.status !== 'answered') {
      await reopen(id, `the agent ended with ${result.status}`)
      return 'a person has to look at it'
    }
    const { reply, refund: granted } = result.output
    const refunded = granted ? await refund(granted.order, granted.euros) : 'nothing'
    await sendReply(id, reply)
    return `answered, refunded ${refunded}`
  } catch (error) {
    const reason = isCancellation(error) ? 'the handling was cancelled' : 'the agent failed'
    await CancellationScope.nonCancellable(() => reopen(id, reason))
    throw error
  }
}
