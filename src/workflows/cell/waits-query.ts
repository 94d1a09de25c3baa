import { defineQuery, setHandler, workflowInfo } from '@temporalio/workflow'
import type { WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { waitsQuery } from '../../common/names.js'
import type { Run } from '../run.js'

const waits = defineQuery<WorkflowWaits>(waitsQuery)

/**
 * Answers the query for what this workflow waits for from outside.
 *
 * @param runs the runs of this workflow
 */
export function handleWaitsQuery(runs: () => readonly Run[]): void {
  setHandler(waits, () => {
    const open = runs()
    const [paused] = open.flatMap(({ budget }) => {
      const { paused: pause } = budget.status
      return pause ? [budget.pauseAt(pause.item, { ...pause })] : []
    })
    const [servedRun] = open.flatMap(({ progress }) => progress.servedRun ?? [])
    return {
      firstExecutionRunId: workflowInfo().firstExecutionRunId,
      calls: open.flatMap(({ deferredCalls }) => deferredCalls.toDecide),
      ...(paused && { paused }),
      helpers: open.flatMap(({ progress }) => [...progress.helpers]),
      ...(servedRun !== undefined && { servedRun }),
    }
  })
}
