import type { AgentStatus } from '../../common/runs.js'
import type { CallNode, CellNode, ModelNode, RunStatus } from '../history/index.js'
import { type Part, part } from './line.js'

export type Status = CallNode['status'] | CellNode['status'] | ModelNode['status'] | RunStatus | AgentStatus

/** One character for how something stands; all that is not listed went wrong. */
export function statusMark(status: Status): Part {
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
    case 'cancelled':
    case 'terminated':
      return part('■', 'yellow')
    default:
      return part('✗', 'red')
  }
}

/** `timed_out` -> `timed out`. */
export function inWords(status: string): string {
  return status.replaceAll('_', ' ')
}
