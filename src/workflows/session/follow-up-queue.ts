import type { FollowUpInput } from '../../common/calls/call-activities.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DeliveredResult, FollowUpStep, LocalCallAllowance, StepInput } from '../../common/session/steps.js'

/** A follow-up step with all results that it delivers. */
export type QueuedStep = FollowUpStep & { readonly results: readonly DeliveredResult[] }

export interface StepLimit {
  /** Characters of output that the result may have. */
  readonly outputLimit: number
  /** Undefined: no follow-up steps. */
  readonly localCalls?: LocalCallAllowance | undefined
  /** True: the worker may remove the sandbox at the end of the cell. */
  readonly isLastCell?: true | undefined
}

/** A step that the worker of a call may execute. */
export interface PreparedFollowUp {
  readonly input: FollowUpInput
  /** Adds the steps that the worker executed after the call. */
  readonly record: (outcome: CallOutcome, steps: readonly FollowUpStep[]) => void
}

/**
 * The follow-up steps that are recorded in the history, and that the cell has yet to take. The sandbox has executed
 * them. If the cell takes a different step, the sandbox is ahead of the journal, and it is rebuilt.
 */
export class FollowUpQueue {
  #steps: QueuedStep[]

  constructor(steps: readonly QueuedStep[] = []) {
    this.#steps = [...steps]
  }

  get steps(): readonly QueuedStep[] {
    return this.#steps
  }

  add(steps: readonly QueuedStep[]): void {
    this.#steps.push(...steps)
  }

  clear(): void {
    this.#steps = []
  }

  /** Returns the outcome of a call that the worker has made. The next step delivers it. */
  outcomeOf(index: number): CallOutcome | undefined {
    return this.#steps[0]?.results.find((result) => result.index === index)?.outcome
  }

  /** Takes the next step if it has this number and input. Otherwise drops all steps. */
  take(number: number, input: StepInput): QueuedStep | undefined {
    const [next] = this.#steps
    if (next?.number !== number || input.type !== 'results' || !isSame(next.results, input.results)) {
      this.clear()
      return undefined
    }
    this.#steps.shift()
    return next
  }
}

function isSame(executed: readonly DeliveredResult[], delivered: readonly DeliveredResult[]): boolean {
  return JSON.stringify(executed) === JSON.stringify(delivered)
}
