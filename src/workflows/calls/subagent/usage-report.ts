import { CancellationScope, defineSignal, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow'
import { subagentUsageSignal } from '../../../common/names.js'
import { type BudgetLease, type RunCounts, zeroCounts } from '../../../common/run/runs.js'
import type { Run } from '../../run/run.js'
import { handleSignal } from '../../temporal/failures.js'

/** The usage of a sub-agent that ended without a result. */
interface UsageReport {
  readonly key: string
  readonly counts: RunCounts
}

const usageReport = defineSignal<[UsageReport]>(subagentUsageSignal)

export function handleUsageReports(run: Run): void {
  handleSignal(usageReport, ({ key, counts }) => run.settleLease(key, counts))
}

/**
 * Reports the usage of this sub-agent to the parent when the sub-agent fails or is cancelled: Temporal gives the parent
 * of such a workflow no result. A parent that has ended needs no report.
 *
 * @param counts undefined before the configuration was read
 */
export async function reportUsage({ key }: BudgetLease, counts: RunCounts | undefined): Promise<void> {
  const { parent } = workflowInfo()
  if (!parent) return
  const report: UsageReport = { key, counts: counts ?? zeroCounts }
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(parent.workflowId)
      .signal(usageReport, report)
      .catch(() => undefined),
  )
}
