import type { ErrorCode } from '../../../common/errors.js'
import type { CallNode, ModelNode } from '../../../client/run-tree/index.js'
import { formatDuration } from '../../../common/text/format.js'
import { oneLine } from './sanitize.js'

/** This failure is not an attempt of the tool: the worker that took the call does not have the tool. */
export const toolNotRegistered: ErrorCode = 'TOOL_NOT_REGISTERED'

type Retried = Pick<CallNode | ModelNode, 'status' | 'attempts' | 'maxAttempts' | 'nextAttemptAt' | 'lastFailure'>

/**
 * The failure that is being retried, such as `attempt 3 of 50 in 19s, after: no answer`. Undefined when no attempt of
 * an open node has failed.
 */
export function describeRetry(node: Retried, now: number): string | undefined {
  const { status, attempts, maxAttempts, nextAttemptAt, lastFailure } = node
  if ((status !== 'waiting' && status !== 'running') || !lastFailure) return undefined
  const { code, message } = lastFailure
  if (code === toolNotRegistered) return `waiting: ${oneLine(message)}`
  const attempt = status === 'running' ? attempts : attempts + 1
  const limit = maxAttempts !== undefined && attempt <= maxAttempts ? ` of ${maxAttempts}` : ''
  const pauseMs = status === 'waiting' && nextAttemptAt !== undefined ? nextAttemptAt - now : 0
  const start = pauseMs > 0 ? ` in ${formatDuration(Math.max(pauseMs, 1_000))}` : ''
  return `attempt ${attempt}${limit}${start}, after: ${oneLine(message)}`
}
