import type { StepAnswer } from '../common/steps.js'
import type { Deadline } from './deadline.js'
import type { Deferred } from './deferred.js'
import type { Interruptible } from './interrupt.js'
import type { Restored } from './protocol/answers.js'
import type { Fence } from './protocol/messages.js'
import type { RunnerStep } from './protocol/step-message.js'
import type { ReadValue } from './value-transfer.js'

export interface AdvanceOptions {
  /** Of the activity; part of the fence. */
  readonly attempt: number
  /** Printed text as it appears; best effort. */
  readonly onOutput: (text: string) => void
  /** For what the step refers to. */
  readonly readValue: ReadValue
}

/** A step whose answer is awaited. */
export interface Waiting extends Interruptible {
  readonly step: number
  readonly answer: Deferred<StepAnswer | Restored>
  readonly deadline: Deadline
  /** The latest; it has taken over from those before. */
  attempt: Attempt
}

/** One caller of `advance`. */
export interface Attempt extends AdvanceOptions {
  readonly step: RunnerStep
  readonly fence: Fence
  /** Rejects when the step can't be sent. */
  readonly failed: Deferred<never>
  /** Ends what is being sent. */
  sending: AbortController
  resends: number
}

/** Is this what the step waits for? A restore has an answer of its own. */
export function isAnswerTo(
  { step, attempt }: Waiting,
  message: { readonly type: string; readonly step: number },
): boolean {
  return message.step === step && (message.type === 'restored') === (attempt.step.input.type === 'restore')
}
