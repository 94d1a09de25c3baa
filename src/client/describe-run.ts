import type { Client } from '@temporalio/client'
import { continuation } from './chain.js'
import type { Execution } from './history-pages.js'
import { type RunInfo, runInfo } from './run-info.js'
import { temporalError } from './temporal-error.js'

type Description = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>

/**
 * How a run stands, over all the histories it went on in.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function describeRun(client: Client, execution: Execution): Promise<RunInfo> {
  return runInfo(await describeCurrent(client, execution))
}

/**
 * Of all the histories that a run went on in, the current one.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function describeCurrent(client: Client, { workflowId, runId }: Execution): Promise<Description> {
  const { workflow } = client
  try {
    let description = await workflow.getHandle(workflowId, runId).describe()
    while (description.status.name === 'CONTINUED_AS_NEW') {
      const next = await continuation(client, { workflowId, runId: description.runId })
      if (next === undefined) break
      description = await workflow.getHandle(workflowId, next).describe()
    }
    return description
  } catch (thrown) {
    throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
  }
}
