import type { StepAnswer } from '../../common/steps.js'
import type { RunnerMessage } from './messages.js'

type AnswerMessage = Extract<RunnerMessage, { type: 'suspended' | 'completed' | 'failed' | 'restored' }>

/** How a restore ended. After a problem the sandbox is of no more use. */
export interface Restored {
  readonly type: 'restored'
  readonly problem: string | null
}

/** A runner's answer in the workflow's terms. */
export function toStepAnswer(message: AnswerMessage): StepAnswer | Restored {
  switch (message.type) {
    case 'restored':
      return { type: 'restored', problem: message.problem }
    case 'completed':
      return { type: 'completed', output: message.output }
    case 'failed':
      return { type: 'failed', kind: message.kind, error: message.error, output: message.output }
    case 'suspended':
      return {
        type: 'suspended',
        calls: message.calls.map(({ call, tool, arguments: args }) => ({ index: call, tool, arguments: args })),
        wakeInMs: message.wake_in === null ? null : Math.ceil(message.wake_in * 1_000),
        output: message.output,
      }
  }
}
