import { describeCompensated } from '../../common/calls/compensation.js'
import { pluralize } from '../../common/text/text.js'
import type { CallNode, RunTree } from '../../client/run-tree/index.js'

/** Number of calls of a run whose effects were undone, and of those whose effects could not be undone. */
export interface CompensatedCalls {
  readonly compensated: number
  readonly failed: number
}

/** Undefined when no call was compensated. */
export function compensatedCalls({ turns }: Pick<RunTree, 'turns'>): CompensatedCalls | undefined {
  const calls = turns.flatMap(({ cells, directCalls }) => [...directCalls, ...cells.flatMap((cell) => cell.calls)])
  const count = (isCounted: (status: NonNullable<CallNode['compensation']>['status']) => boolean): number =>
    calls.filter(({ compensation }) => compensation && isCounted(compensation.status)).length
  const counts = { compensated: count((status) => status === 'ok'), failed: count((status) => status !== 'ok') }
  return counts.compensated + counts.failed === 0 ? undefined : counts
}

/** Such as `2 calls were compensated, 1 call could not be: see ptc show agent-1`. */
export function describeCompensation({ compensated, failed }: CompensatedCalls, workflowId: string): string {
  const done = describeCompensated(compensated)
  return failed === 0 ? done : `${done}, ${pluralize(failed, 'call')} could not be: see ptc show ${workflowId}`
}
