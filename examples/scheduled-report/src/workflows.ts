import { defineSearchAttributeKey } from '@temporalio/common'
import {
  CancellationScope,
  ChildWorkflowFailure,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import { runProgram } from 'durable-ptc/workflow'
import type * as activities from './activities.js'
import type { Completion } from './completion.js'

/** Repeated for a day, at most every five minutes. Then the workflow fails, which is to be seen in the Temporal UI. */
const { deliver } = proxyActivities<typeof activities>({
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1s', maximumInterval: '5m' },
})

/** A model could have written it: `runAgent` in its place lets a model write one each day. */
const source = `
import asyncio
shops = ["berlin", "lyon", "porto"]
orders = await asyncio.gather(*(orders_on(shop=shop, day=input_data["day"]) for shop in shops))
for shop, count in zip(shops, orders):
    print(f"{shop}: {count} orders on {input_data['day']}")
`

/** Runs the report, and tells the receiver how it ended: also when it was cancelled, terminated or has timed out. */
export async function report(): Promise<Completion> {
  let completion: Completion | undefined
  try {
    const { outcome } = await runProgram({ source, input: { day: day() } }, { workflowExecutionTimeout: '1 hour' })
    const { status, output } = outcome
    completion = { ...identity(), status, output, ...(outcome.status !== 'ok' && { error: outcome.error }) }
    return completion
  } catch (error) {
    const cause = error instanceof ChildWorkflowFailure ? error.cause?.message : undefined
    completion = {
      ...identity(),
      status: isCancellation(error) ? 'cancelled' : 'failed',
      error: cause ?? String(error),
    }
    throw error
  } finally {
    const ended = completion
    if (ended) await CancellationScope.nonCancellable(() => deliver(ended))
  }
}

function identity(): Pick<Completion, 'id' | 'workflowId'> {
  const { workflowId, runId } = workflowInfo()
  return { id: `${workflowId}/${runId}`, workflowId }
}

/** The server sets it in workflows that a schedule has started. */
const scheduledKey = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME')

/** The day for which the schedule has started the report: a late start changes nothing. */
function day(): string {
  const { typedSearchAttributes, startTime } = workflowInfo()
  return (typedSearchAttributes.get(scheduledKey) ?? startTime).toISOString().slice(0, 10)
}
