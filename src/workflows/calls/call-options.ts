import type { Priority, RetryPolicy } from '@temporalio/common'
import { lostWorkerRetries } from '../../common/calls/calls.js'
import { defined } from '../../common/defined.js'
import { notRetriedInputErrors } from '../../common/errors.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { utf8Length } from '../../common/text/text.js'
import type { Run } from '../run/run.js'

/** Temporal's limit for a fairness key. */
const maxFairnessKeyBytes = 64

/**
 * Milliseconds between the timeout of the tool and that of its activity. The tool's typed timeout must come first. The
 * rest is for loading large arguments and storing a large result, while the value store may be unavailable for a while.
 */
export const timeoutMarginMs = 10 * 60_000

/**
 * Attempts on workers without the tool. Such a worker returns the call for a retry, and rejects it after ten minutes.
 */
export const attemptsWithoutTool = 200

/**
 * Returns an upper limit of the milliseconds that a call takes, with the waits between attempts and with lost workers.
 */
export function maxDurationOf({ attempts, timeoutMs, deferred, remote }: ToolConfig): number {
  const waitMs = remote?.kind === 'activity' ? remote.scheduleToStartMs : 0
  return (attempts + lostWorkerRetries) * (timeoutMs + timeoutMarginMs + waitMs) + (deferred?.expiresMs ?? 0)
}

export function retryPolicyOf(
  { effect, retry = {}, remote }: ToolConfig,
  maximumAttempts: number,
  nonRetryable: readonly string[] = [],
): RetryPolicy {
  const { initialMs = '500ms', maximumMs = '30s', backoffCoefficient } = retry
  // For a tool of the configuration, its worker decides which errors are not retried. For a remote tool, Temporal
  // decides by the type of the failure.
  const types = remote ? [...(retry.nonRetryableErrorTypes ?? []), refusal] : nonRetryable
  return {
    initialInterval: initialMs,
    maximumInterval: maximumMs,
    ...defined({ backoffCoefficient }),
    maximumAttempts: remote && effect === 'once' ? 1 : maximumAttempts,
    nonRetryableErrorTypes: [...types, ...notRetriedInputErrors],
  }
}

/** The type of a failure by which a remote tool says that nothing happened. */
export const refusal = 'ToolError'

/** Temporal's priority of a call; its fairness key may be that of the run. */
export function priorityOf(run: Run, { priority }: ToolConfig): { readonly priority?: Priority } {
  if (!priority) return {}
  const { fairnessKey, ...rest } = priority
  const key = typeof fairnessKey === 'object' ? run.config.context?.[fairnessKey.context] : fairnessKey
  const text = typeof key === 'string' || typeof key === 'number' ? truncateToBytes(String(key)) : ''
  return { priority: { ...rest, ...(text !== '' && { fairnessKey: text }) } }
}

function truncateToBytes(text: string): string {
  let key = ''
  for (const character of text) {
    if (utf8Length(key + character) > maxFairnessKeyBytes) break
    key += character
  }
  return key
}
