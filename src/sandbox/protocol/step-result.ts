import type { StepResult } from '../../common/steps.js'
import type { StepResponse } from './messages.js'

/** The result of a restore. After a problem the sandbox is unusable. */
export interface RestoreResult {
  readonly type: 'restored'
  readonly problem: string | null
}

/** Converts a response of the runner into a step result. */
export function toStepResult(message: StepResponse): StepResult | RestoreResult {
  if (message.type === 'restored') return { type: 'restored', problem: message.problem }
  const { output, interrupted_after: interruptedAfterMs } = message
  const sharedFields = { output, ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }) }
  switch (message.type) {
    case 'completed':
      return { type: 'completed', ...sharedFields }
    case 'failed':
      return { type: 'failed', kind: message.kind, error: message.error, ...sharedFields }
    case 'suspended':
      return {
        ...sharedFields,
        type: 'suspended',
        calls: message.calls.map(({ call, tool, arguments: args }) => ({ index: call, tool, arguments: args })),
        wakeInMs: message.wake_in === null ? null : Math.ceil(message.wake_in * 1_000),
      }
  }
}
