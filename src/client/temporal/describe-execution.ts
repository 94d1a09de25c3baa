import type { Client } from '@temporalio/client'
import { describingClient, isEncryptionError } from './encrypted-payloads.js'
import { nextRunId } from './executions.js'
import type { ExecutionRef } from './history-pages.js'
import { temporalError } from './temporal-error.js'

type Description = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>

/**
 * Describes the latest execution of the continue-as-new chain.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function describeLatestExecution(
  client: Client,
  { workflowId, runId }: ExecutionRef,
): Promise<Description> {
  try {
    let description = await describe(client, { workflowId, runId })
    while (description.status.name === 'CONTINUED_AS_NEW') {
      const successor = await nextRunId(client, { workflowId, runId: description.runId })
      if (successor === undefined) break
      description = await describe(client, { workflowId, runId: successor })
    }
    return description
  } catch (thrown) {
    throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
  }
}

/** Describes an execution. A client without the key of the memo gets the other parts. */
async function describe(client: Client, { workflowId, runId }: ExecutionRef): Promise<Description> {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe()
  } catch (thrown) {
    if (!isEncryptionError(thrown)) throw thrown
    return describingClient(client).getHandle(workflowId, runId).describe()
  }
}
