import { defineQuery, setHandler, workflowInfo } from '@temporalio/workflow'
import { approvalKey } from '../../common/calls/approvals.js'
import { signCall } from '../../common/calls/call-identity.js'
import type { WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { waitsQuery } from '../../common/names.js'
import type { RunCalls } from './run-calls.js'

const waits = defineQuery<WorkflowWaits>(waitsQuery)

/**
 * Answers the query for what this workflow waits for from outside.
 *
 * @param runs the calls of each run of this workflow
 */
export function handleWaitsQuery(runs: () => Iterable<RunCalls>): void {
  setHandler(waits, () => {
    const open = [...runs()]
    const [paused] = open.flatMap(({ run: { budget } }) => {
      const { paused: pause } = budget.status
      return pause ? [budget.pauseAt(pause.item, { ...pause })] : []
    })
    const [servedRun] = open.flatMap(({ run: { progress } }) => progress.servedRun ?? [])
    return {
      firstExecutionRunId: workflowInfo().firstExecutionRunId,
      calls: open.flatMap(callsToDecide),
      ...(paused && { paused }),
      helpers: open.flatMap(({ run: { progress } }) => [...progress.helpers]),
      ...(servedRun !== undefined && { servedRun }),
    }
  })
}

/** Returns the calls that wait for a person or a program to decide on them, with the data for their tokens. */
export function callsToDecide({ run, toDecide }: RunCalls): WorkflowWaits['calls'] {
  return [...toDecide].flatMap(({ wait, position, idempotencyKey: key, described }) => {
    if (!wait || !('since' in wait)) return []
    const { for: type, since, expiresAt } = wait
    const { tool, summary, arguments: args } = described
    const idempotencyKey = type === 'approval' ? approvalKey(key) : key
    const signature = signCall(run.config.completionSecret ?? '', idempotencyKey)
    return [{ type, tool, summary, arguments: args, position, since, expiresAt, idempotencyKey, signature }]
  })
}
