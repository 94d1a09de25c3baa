import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import type { BudgetChange, BudgetStatus } from '../../common/budget/budget.js'
import { PtcError } from '../../common/errors.js'
import { budgetMessage } from '../../common/names.js'
import { queryRun } from '../temporal/query-run.js'
import { retryLongPoll } from '../temporal/retry.js'
import { isFailedPrecondition } from '../temporal/temporal-error.js'
import { isRepeatableUpdate } from '../temporal/update-errors.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import { fetchRunInfo } from './run-info.js'
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
    const error = PtcError.isInstance(thrown) ? thrown : runError(thrown, workflowId)
    if (error.code === 'TEMPORAL_NOT_FOUND') await assertIsOpen(client, workflowId)
    throw error
  }
  // A run that does not exist also has no handler.
  const { status: state } = await fetchRunInfo(client, { workflowId, runId: undefined })
  // A terminated run could not reset its pause.
  if (status !== undefined) return state === 'running' ? status : { ...status, paused: null }
  throw new PtcError('TEMPORAL_NOT_FOUND', `run ${workflowId} has no budget: it is neither an agent nor a conversation`)
}

/** @throws PtcError TEMPORAL_NOT_FOUND with the reason */
export async function assertIsOpen(client: Client, workflowId: string): Promise<void> {
  const { status, outcome } = await fetchRunInfo(client, { workflowId, runId: undefined })
  if (status !== 'running' && status !== 'paused') throw runEndedError(workflowId, outcome ?? status)
}

/** Returns the error for a request that only a running run accepts. */
export function runEndedError(workflowId: string, status: string): PtcError {
  const message = `run ${workflowId} has already ended (${status.replaceAll('_', ' ')})`
  return new PtcError('TEMPORAL_NOT_FOUND', message)
}

function update({ workflow }: Client, workflowId: string, change: BudgetChange): Promise<BudgetStatus> {
  const isRetryable = (thrown: unknown): boolean => isRepeatableUpdate(thrown) || isFailedPrecondition(thrown)
  const request = { args: [change] as [BudgetChange], updateId: randomUUID() }
  return retryLongPoll(
    () => workflow.getHandle(workflowId).executeUpdate<BudgetStatus, [BudgetChange]>(budgetMessage, request),
    { isRetryable },
  )
}
