/*
 * The calls of one run: what all of them share, and their state for the next execution of the continue-as-new chain.
 */

import type { CallPosition } from '../../common/calls/calls.js'
import type { CompensationsState } from '../../common/calls/compensation.js'
import { defined } from '../../common/defined.js'
import type { DescribedCall } from '../../common/session/steps.js'
import type { CallWait } from '../run/progress.js'
import { BudgetWaits } from '../run/budget-waits.js'
import type { Run } from '../run/run.js'
import { Semaphore } from '../temporal/semaphore.js'
import { Compensations } from './compensation/compensations.js'
import { isEnded } from './call-state.js'
import { Completions, type CompletionsState } from './completions.js'
import { DataFlow, type DataFlowState } from './data-flow/data-flow.js'
import { RememberedApprovals } from './people/remembered-approvals.js'
import { Sampling, type SamplingState } from './sampling.js'
import { ToolSlots } from './tool-slots.js'
import { WaitingCalls, type WaitingCallState } from './waiting-calls.js'

/** Each large call may put 256 KiB into a workflow task, and the completion of a task may have at most 4 MiB. */
const maxLargeCalls = 8

/** Absent: there is none of it. */
export interface RunCallsState {
  readonly waiting?: readonly WaitingCallState[]
  readonly completions?: CompletionsState
  readonly approvals?: readonly string[]
  readonly compensations?: CompensationsState
  /** Milliseconds during which calls waited for the budget. */
  readonly budgetWaitedMs?: number
  readonly dataFlow?: DataFlowState
  readonly sampling?: SamplingState
}

/** The parts of a `RunCall` that say what it waits for. */
interface CallInProgress {
  readonly idempotencyKey: string
  readonly position: CallPosition
  readonly described: DescribedCall
  /** Undefined while the activity of the call is in progress. */
  readonly wait: CallWait | undefined
}

export class RunCalls {
  readonly run: Run
  /** One slot for each call that has an activity in progress. */
  readonly slots: Semaphore
  /** One slot for each remote call with large arguments or a large result. */
  readonly largeCalls = new Semaphore(maxLargeCalls)
  readonly waiting: WaitingCalls
  readonly completions: Completions
  readonly approvals: RememberedApprovals
  readonly toolSlots: ToolSlots
  readonly compensations: Compensations
  readonly budget: BudgetWaits
  readonly dataFlow: DataFlow
  readonly sampling: Sampling
  /** The calls that wait for a decision, an answer or a result from outside. */
  readonly toDecide = new Set<CallInProgress>()
  /**
   * The sub-agents that use the session of the run, by the idempotency keys of their calls. The run does not continue as
   * new while there is one: the call of a sub-agent holds no slot of the run.
   */
  readonly borrowers = new Set<string>()
  /** Called when a sub-agent no longer uses the session. */
  onReturn: (key: string) => void = () => undefined

  constructor(run: Run, state: RunCallsState = {}) {
    this.run = run
    this.slots = new Semaphore(run.config.limits.callsInFlight)
    this.waiting = new WaitingCalls(state.waiting)
    this.completions = new Completions(run, this.waiting, this.slots, state.completions)
    this.approvals = new RememberedApprovals(state.approvals)
    this.toolSlots = new ToolSlots(run, this.waiting)
    this.compensations = new Compensations(run, state.compensations)
    this.budget = new BudgetWaits(run, state.budgetWaitedMs)
    this.dataFlow = new DataFlow(run.config.dataFlow, run.isHosted, state.dataFlow)
    this.sampling = new Sampling(run, state.sampling)
  }

  /** Read when no call is in progress, and after `compensations.store`. */
  get state(): RunCallsState {
    const [waiting, completions] = [this.waiting.state, this.completions.state]
    const [approvals, compensations] = [this.approvals.state, this.compensations.state]
    return {
      ...(waiting.length > 0 && { waiting }),
      ...defined({ completions }),
      ...(approvals.length > 0 && { approvals }),
      ...defined({ compensations }),
      ...(this.budget.waitedMs > 0 && { budgetWaitedMs: this.budget.waitedMs }),
      ...defined({ dataFlow: this.dataFlow.state, sampling: this.sampling.state }),
    }
  }

  /** Milliseconds during which calls waited for something that their code has no part in. */
  get waitedMs(): number {
    return this.completions.waitedMs + this.budget.waitedMs
  }

  /** Whether a call waits for something from outside. */
  get waitsForOthers(): boolean {
    return this.budget.isWaiting || this.waiting.expiring.length > 0
  }

  /**
   * Returns whether a call has begun, and waits for its result or for the answer to a question, or has one that it has
   * not taken.
   */
  awaitsResult({ idempotencyKey }: { readonly idempotencyKey: string }): boolean {
    const type = this.waiting.get(idempotencyKey)?.state.type
    return type === 'result' || type === 'completed' || type === 'question' || type === 'answered'
  }

  /** Called when a call has ended. Its run may keep the slot, or its limiter has to confirm the end. */
  forget({ idempotencyKey }: { readonly idempotencyKey: string }): void {
    this.sampling.forget(idempotencyKey)
    const call = this.waiting.get(idempotencyKey)
    if (call && !isEnded(call.state)) this.waiting.remove(call)
  }

  /** Ends the waiting of all calls. Resolves when the slots of tools are free. */
  async close(): Promise<void> {
    this.completions.close()
    await this.toolSlots.close()
  }
}
