import type { StepAnswer } from '../common/steps.js'
import type { Deadline } from './deadline.js'
import type { Deferred } from './deferred.js'
import type { Interruptible } from './interrupt.js'
import type { Restored } from './protocol/answers.js'
import type { AnswerMessage, Fence, StepMessage } from './protocol/messages.js'
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
  readonly message: StepMessage
  /** Another attempt is known, or can't be ruled out: of this step, of a run that was reset, or of another worker. */
  readonly mayBeFenced: boolean
  /** Rejects when the step can't be sent. */
  readonly failed: Deferred<never>
  /** Ends what is being sent. */
  sending: AbortController
  resends: number
}

/** Does this attempt take up what is under way? After a reset there may be another step of the same number. */
export function joins({ message }: Attempt, { attempt }: Waiting): boolean {
  return message.step === attempt.message.step && message.digest === attempt.message.digest
}

/** Is this what the step waits for? A restore has an answer of its own; a runner from before there were digests says none. */
export function isAnswerTo({ attempt: { message } }: Waiting, answer: AnswerMessage): boolean {
  const { step, digest = message.digest } = answer
  if (step !== message.step || digest !== message.digest) return false
  return (answer.type === 'restored') === (message.type === 'restore')
}
