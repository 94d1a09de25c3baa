import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import type { BudgetChange, BudgetStatus } from '../../common/runs/budget.js'
import { PtcError } from '../../common/errors.js'
import { budgetMessage } from '../../common/names.js'
import { queryRun } from '../temporal/query-run.js'
import { retryLongPoll } from '../temporal/retry.js'
import { isFailedPrecondition } from '../temporal/temporal-error.js'
import { isRepeatableUpdate } from '../temporal/update-errors.js'
import { failWithoutWorker } from '../temporal/worker-availability.js'
import { runError } from './run-error.js'

/** Reads the budget of a run; with a change, replaces these amounts first. */
export async function useBudget(client: Client, workflowId: string, change?: BudgetChange): Promise<BudgetStatus> {
  const awaitedWork = { failedAction: `can't reach run ${workflowId}`, isQuery: change === undefined }
  const work = (): Promise<BudgetStatus | undefined> =>
    change === undefined ? queryRun(client, { workflowId }, budgetMessage) : update(client, workflowId, change)
  let status: BudgetStatus | undefined
  try {
    status = await failWithoutWorker(client, { workflowId, runId: undefined }, awaitedWork, work)
  } catch (thrown) {
    throw PtcError.isInstance(thrown) ? thrown : runError(thrown, workflowId)
  }
  if (status !== undefined) return status
  throw new PtcError('TEMPORAL_NOT_FOUND', `run ${workflowId} has no budget: it is no agent and no conversation`)
}

function update({ workflow }: Client, workflowId: string, change: BudgetChange): Promise<BudgetStatus> {
  const isRetryable = (thrown: unknown): boolean => isRepeatableUpdate(thrown) || isFailedPrecondition(thrown)
  const request = { args: [change] as [BudgetChange], updateId: randomUUID() }
  return retryLongPoll(
    () => workflow.getHandle(workflowId).executeUpdate<BudgetStatus, [BudgetChange]>(budgetMessage, request),
    { isRetryable },
  )
}
