import type { AgentStatus } from '../../../common/run/runs.js'
import type { CallNode, CellNode, ModelNode, RunStatus } from '../../../client/run-tree/index.js'
import { type Part, part } from '../text/line.js'

export type DisplayStatus = CallNode['status'] | CellNode['status'] | ModelNode['status'] | RunStatus | AgentStatus

/** One character for a status; other statuses are failures. */
export function statusMark(status: DisplayStatus): Part {
  switch (status) {
    case 'ok':
    case 'completed':
    case 'answered':
      return part('✓', 'green')
    case 'waiting':
      return part('○', 'dim')
    case 'running':
      return part('▸', 'yellow')
    case 'interrupted':
    case 'stopped':
    case 'gave_up':
    case 'cancelled':
    case 'terminated':
      return part('■', 'yellow')
    default:
      return part('✗', 'red')
  }
}

/** `timed_out` -> `timed out`. */
export function formatStatus(status: string): string {
  return status.replaceAll('_', ' ')
}
