import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import { temporalError } from './temporal-error.js'

const { History } = proto.temporal.api.history.v1
const { DescribeScheduleResponse } = proto.temporal.api.workflowservice.v1
const largestPage = 256

/**
 * Everything that the server keeps of the runs of the client's namespace, as bytes: histories of open runs and of those that
 * ended and are still kept, and schedules. Of all workflow types: somebody else's may keep values in the same store.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE and others; the signal's reason
 */
export async function* valueRoots(client: Client, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { workflowId, runId } of client.workflow.list({ pageSize: 1_000 })) {
      signal.throwIfAborted()
      yield* historyOf(client, { workflowId, runId }, signal)
    }
    for await (const { scheduleId } of client.schedule.list()) {
      const { namespace } = client.options
      const schedule = await client.workflowService.describeSchedule({ namespace, scheduleId })
      yield DescribeScheduleResponse.encode(schedule).finish()
    }
  } catch (thrown) {
    signal.throwIfAborted()
    throw temporalError(thrown, 'look through the runs')
  }
}

interface Execution {
  readonly workflowId: string
  readonly runId: string
}

/** In the form the server sends it: whatever is in there, in whatever field, is in these bytes. */
async function* historyOf(
  { workflowService, options: { namespace } }: Client,
  execution: Execution,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let maximumPageSize = largestPage
  let nextPageToken: Uint8Array = new Uint8Array()
  do {
    signal.throwIfAborted()
    try {
      const request = { namespace, execution, maximumPageSize, nextPageToken }
      const page = await workflowService.getWorkflowExecutionHistory(request)
      if (page.history) yield History.encode(page.history).finish()
      nextPageToken = page.nextPageToken ?? new Uint8Array()
    } catch (thrown) {
      const error = temporalError(thrown, `read the history of ${execution.workflowId}`, execution.workflowId)
      // Its retention ended while we looked.
      if (error.code === 'TEMPORAL_NOT_FOUND') return
      // The server can't send more than 4 MiB at once.
      if (maximumPageSize === 1) throw error
      maximumPageSize = Math.ceil(maximumPageSize / 4)
    }
  } while (nextPageToken.length > 0)
}
