import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  type ContinueAsNewOptions,
  makeContinueAsNewFunc,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow'
import { defined } from '../../common/defined.js'
import { memoKeys } from '../../common/names.js'
import type { Semaphore } from '../temporal/semaphore.js'
import type { Run } from './run.js'
import { continuedSearchAttributes } from './search-attributes.js'

/** Events between the first attempt and the second. Each later distance is twice the previous one. */
const firstRetryEvents = 500

/**
 * How long an attempt waits for calls in progress, in milliseconds. Afterwards the run continues in the old history.
 */
const quiesceMs = 10_000

/** Events at which the first attempt is due, unless Temporal suggests it earlier: it does so at 4,096, or at 4 MiB. */
const defaultHistoryEvents = 4_000

/** Half of what Temporal allows: it ends a run at 51,200 events or 50 MB. */
export const historyLimit = { events: 25_000, bytes: 25_000_000 } as const

/**
 * Decides when a run continues as new. Activities in progress can't be carried over. So an attempt starts no further
 * call, and waits for those in progress.
 */
export class ContinueAsNewPolicy {
  readonly #callSlots: Semaphore
  readonly #isHeld: () => boolean
  #nextAttemptAt: number
  #retryEvents = firstRetryEvents
  #hasAttempted = false

  /**
   * @param callSlots has one slot for each tool activity in progress
   * @param historyEvents number of events at which the first attempt is due. Undefined: {@link defaultHistoryEvents}
   * @param isHeld returns true while a call in progress needs other calls of this run: then no attempt begins or
   *   continues
   */
  constructor(callSlots: Semaphore, historyEvents = defaultHistoryEvents, isHeld = () => false) {
    this.#callSlots = callSlots
    this.#isHeld = isHeld
    this.#nextAttemptAt = historyEvents
  }

  /** True when the history is long enough for the next {@link attempt}. */
  get isDue(): boolean {
    if (this.#isHeld()) return false
    const { historyLength, continueAsNewSuggested } = workflowInfo()
    return historyLength >= this.#nextAttemptAt || (!this.#hasAttempted && continueAsNewSuggested)
  }

  /**
   * True when a newer version of the worker deployment has become current, and the run is pinned to this one. Asked
   * between two turns only: a turn ends with the code it began with.
   */
  get isUpgradeDue(): boolean {
    return !this.#hasAttempted && workflowInfo().targetWorkerDeploymentVersionChanged
  }

  /**
   * Returns true when no call is in progress. Then no call starts any more: the workflow must continue as new. Returns
   * false when the calls in progress take too long: the next attempt is due later.
   */
  async attempt(): Promise<boolean> {
    const { historyLength, historySize } = workflowInfo()
    this.#nextAttemptAt = historyLength + this.#retryEvents
    this.#retryEvents *= 2
    this.#hasAttempted = true
    const isHeld = this.#isHeld
    const callSlots = this.#callSlots
    callSlots.close()
    // Otherwise an accepted update would get no response.
    const isIdle = (): boolean => callSlots.acquired === 0 && allHandlersFinished() && !isHeld()
    const isOver = (): boolean => isIdle() || isHeld()
    if (isIdle()) return true
    // A long history leaves no choice but to wait until no call is in progress.
    const mustContinue = historyLength > historyLimit.events || historySize > historyLimit.bytes
    if (mustContinue) await condition(isOver)
    else await condition(isOver, quiesceMs, { summary: 'wait for calls, to continue as new' })
    if (isIdle()) return true
    callSlots.reopen()
    return false
  }
}

/**
 * Continues the run as new, with its memo and its search attributes. The memo keeps the start time of the first
 * execution, for lists of runs.
 *
 * @param isUpgraded the next execution runs on the version of the worker deployment that new runs get
 * @throws CancelledFailure when the run is cancelled: the next execution of the chain would not receive the
 *   cancellation
 */
export function continueAsNew<Type extends Workflow>(
  run: Run,
  args: Parameters<Type>,
  isUpgraded = false,
): Promise<never> {
  const options: ContinueAsNewOptions = isUpgraded ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {}
  if (isCancelled(CancellationScope.current())) throw new CancelledFailure('the run was cancelled')
  const { memo, startTime } = workflowInfo()
  const startedAt = { [memoKeys.startedAt]: startTime.toISOString() }
  const typedSearchAttributes = continuedSearchAttributes(run)
  const kept = { memo: { ...startedAt, ...memo }, ...defined({ typedSearchAttributes }) }
  return makeContinueAsNewFunc<Type>({ ...kept, ...options })(...args)
}

/** Also checks the parents, because the cancellation of a scope reaches its children a moment later. */
function isCancelled({ consideredCancelled, parent }: CancellationScope): boolean {
  return consideredCancelled || (parent !== undefined && isCancelled(parent))
}
