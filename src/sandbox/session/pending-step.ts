import type { Deferred } from '../../common/async/deferred.js'
import type { ValueRef } from '../../common/json/external-value.js'
import type { StepResult } from '../../common/session/steps.js'
import type { NetworkAccess } from '../network/access.js'
import type { Fence, StepMessage, StepResponse } from '../protocol/messages.js'
import type { RestoreResult } from '../protocol/step-result.js'
import type { ReadValue } from './value-transfer.js'

export interface ExecuteStepOptions {
  /** Attempt of the activity; part of the fence. */
  readonly attempt: number
  /** Receives printed text while the code runs; best effort. */
  readonly onOutput: (text: string) => void
  /** Reads the values that the step references. */
  readonly readValue: ReadValue
  /** What code may do with the network, from this step on. Undefined: what it could before; at first nothing. */
  readonly network?: NetworkAccess | undefined
}

/** One call of `executeStep`. */
export interface StepAttempt extends ExecuteStepOptions {
  readonly fence: Fence
  readonly message: StepMessage
  /** Values that the runner must have before the message. */
  readonly refs: readonly ValueRef[]
  /** Time limit of the step, as configured. */
  readonly limitSeconds: number
  /** Milliseconds until the host stops the code: the limit and a margin. */
  readonly timeoutMs: number
  /** Aborted when this attempt must send nothing more. */
  readonly sendAbort: AbortController
}

/** The execution of one step over all its connections: each driver continues the execution of its predecessor. */
export interface Execution {
  /** Time by `performance.now()` at which the code is stopped; null before the start, and while values are sent. */
  readonly deadlineMs: number | null
  /** Number of connections over which the code was interrupted at its limit. */
  readonly stopAttempts: number
  readonly interrupt: InterruptState
}

type InterruptState =
  | { readonly type: 'none' }
  /** `confirmation` resolves when the runner reports that the interrupt reached the code. */
  | { readonly type: 'requested'; readonly confirmation: Deferred<void> }
  | { readonly type: 'delivered' }

export const newExecution: Execution = { deadlineMs: null, stopAttempts: 0, interrupt: { type: 'none' } }

/** A step without a result. */
export interface PendingStep {
  /** The latest call; its predecessors share its result. */
  readonly attempt: StepAttempt
  readonly result: Deferred<StepResult | RestoreResult>
  readonly execution: Execution
  /** True when another driver of this sandbox may exist: in another worker, or of a run before a reset. */
  readonly mayBeFenced: boolean
}

/** Returns whether this attempt joins the pending step. After a reset, another step may have the same number. */
export function isSameStep({ message }: StepAttempt, { attempt }: PendingStep): boolean {
  return message.step === attempt.message.step && message.digest === attempt.message.digest
}

/** Returns whether this is the response to the pending step. A restore has a separate response type. */
export function isResponseTo({ attempt: { message } }: PendingStep, response: StepResponse): boolean {
  const { step, digest = message.digest } = response
  if (step !== message.step || digest !== message.digest) return false
  return (response.type === 'restored') === (message.type === 'restore')
}
