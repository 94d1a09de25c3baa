import type { StepAnswer } from '../../common/steps.js'
import type { AnswerMessage } from './messages.js'

/** How a restore ended. After a problem the sandbox is of no more use. */
export interface Restored {
  readonly type: 'restored'
  readonly problem: string | null
}

/** A runner's answer in the workflow's terms. */
export function toStepAnswer(message: AnswerMessage): StepAnswer | Restored {
  if (message.type === 'restored') return { type: 'restored', problem: message.problem }
  const { output, interrupted_after: interruptedAfterMs } = message
  const all = { output, ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }) }
  switch (message.type) {
    case 'completed':
      return { type: 'completed', ...all }
    case 'failed':
      return { type: 'failed', kind: message.kind, error: message.error, ...all }
    case 'suspended':
      return {
        ...all,
        type: 'suspended',
        calls: message.calls.map(({ call, tool, arguments: args }) => ({ index: call, tool, arguments: args })),
        wakeInMs: message.wake_in === null ? null : Math.ceil(message.wake_in * 1_000),
      }
  }
}
