import { CancellationScope } from '@temporalio/workflow'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DeliveredResult, DescribedCall } from '../../common/session/steps.js'
import { utf8Length } from '../../common/text/text.js'
import { executeCall } from '../calls/pipeline.js'
import type { RunCall } from '../calls/run-call.js'

/** Maximum bytes of the results in one step. Temporal refuses payloads over 2 MiB. */
const maxStepBytes = 1_250_000

/** Indices that a runner may skip at once: calls that the code cancelled before the step ended. */
const maxIndexGap = 100_000

/** No call is in progress. */
export interface PendingCallsState {
  /** Calls that have not started, and deferred calls that wait, without their arguments. */
  readonly notStarted: readonly CellCall[]
  readonly arrived: readonly DeliveredResult[]
  /** Results that the current cell received for calls of earlier cells. */
  readonly lateResults: readonly DeliveredResult[]
  readonly lastIndex: number
  readonly lastIndexBeforeCell: number
}

export interface CellCall {
  readonly call: DescribedCall
  readonly turn: number
  readonly cell: number
  readonly toolUseId?: string
}

interface PendingCall {
  readonly cellCall: CellCall
  readonly call: RunCall
  readonly scope: CancellationScope
}

/** The calls of a program, from their start until a step delivers the result. */
export class PendingCalls {
  /**
   * Key: the index of the call. A dropped cell frees its indices: the scope distinguishes its calls from later calls
   * with the same index.
   */
  readonly #pending = new Map<number, PendingCall>()
  /** A session numbers its calls in the order in which the program makes them. */
  #lastIndex = 0
  #lastIndexBeforeCell = 0
  /** Results of earlier cells' calls that the current cell received. If it is dropped, they are delivered again. */
  #lateResults: DeliveredResult[] = []
  #arrived: DeliveredResult[] = []
  #failure: { readonly thrown: unknown } | undefined

  constructor(state?: PendingCallsState) {
    if (!state) return
    this.#lastIndex = state.lastIndex
    this.#lastIndexBeforeCell = state.lastIndexBeforeCell
    this.#lateResults = [...state.lateResults]
    this.#arrived = [...state.arrived]
  }

  /** Read when no call is in progress: every pending call has yet to start, or waits for its result. */
  get state(): PendingCallsState {
    return {
      notStarted: [...this.#pending.values()].map(({ cellCall, call }) =>
        call.wait?.for === 'result' ? { ...cellCall, call: { ...cellCall.call, arguments: {} } } : cellCall,
      ),
      arrived: this.#arrived,
      lateResults: this.#lateResults,
      lastIndex: this.#lastIndex,
      lastIndexBeforeCell: this.#lastIndexBeforeCell,
    }
  }

  beginCell(): void {
    this.#lastIndexBeforeCell = this.#lastIndex
    this.#lateResults = []
  }

  /** True when the indices rise, without large gaps. Activity ids contain the index, so no index may occur twice. */
  haveNewIndices(calls: readonly DescribedCall[]): boolean {
    return calls.every(({ index }, position) => {
      const before = calls[position - 1]?.index ?? this.#lastIndex
      return index > before && index <= before + maxIndexGap
    })
  }

  /** True when an index was used before this cell: only a forged runner does that, and no later cell can make calls. */
  reuseEarlierIndices(calls: readonly DescribedCall[]): boolean {
    return calls.some(({ index }) => !this.#isOfCell(index))
  }

  /** @param call of `cellCall` */
  start(cellCall: CellCall, call: RunCall): void {
    const scope = new CancellationScope()
    const { index } = cellCall.call
    this.#pending.set(index, { cellCall, call, scope })
    this.#lastIndex = Math.max(this.#lastIndex, index)
    const onOutcome = (outcome: CallOutcome) => this.#arrive(index, scope, outcome)
    scope.run(() => executeCall(call, onOutcome)).catch((thrown: unknown) => this.#fail(index, scope, thrown))
  }

  addResult(index: number, outcome: CallOutcome): void {
    this.#lastIndex = Math.max(this.#lastIndex, index)
    this.#arrived.push({ index, outcome })
  }

  /** Number of calls for which the program has no result yet. */
  get size(): number {
    return this.#pending.size + this.#arrived.length
  }

  /**
   * Returns whether {@link takeResults} has something to return, or to throw.
   *
   * @param waitsForAll the program continues when it has the results of all its calls, or an error
   */
  canContinue(waitsForAll: boolean): boolean {
    if (this.#failure) return true
    if (this.#arrived.length === 0) return false
    return !waitsForAll || this.#pending.size === 0 || this.#arrived.some(({ outcome }) => outcome.status !== 'ok')
  }

  /**
   * Results in the order of their arrival, as many as fit into one step; none when none has arrived.
   *
   * @throws what a call threw: the cancellation of the run
   */
  takeResults(): readonly DeliveredResult[] {
    if (this.#failure) throw this.#failure.thrown
    let bytes = 0
    const firstTooMany = this.#arrived.findIndex(
      (result) => (bytes += utf8Length(JSON.stringify(result))) > maxStepBytes,
    )
    const count = firstTooMany < 0 ? this.#arrived.length : Math.max(firstTooMany, 1)
    const taken = this.#arrived.splice(0, count)
    this.#lateResults.push(...taken.filter(({ index }) => !this.#isOfCell(index)))
    return taken
  }

  /** Drops the current cell and the results of its calls. Results of earlier calls are delivered again. */
  dropCell(): void {
    this.#drop(this.#indicesOfCell())
    const earlier = this.#arrived.filter(({ index }) => !this.#isOfCell(index))
    this.#arrived = [...this.#lateResults, ...earlier] // invariant 3 of `run-cell.ts`
    this.#lastIndex = this.#lastIndexBeforeCell
    this.beginCell()
  }

  /** Drops all calls, because their program no longer exists. Results that still arrive are ignored. */
  clear(): void {
    this.#drop([...this.#pending.keys()])
    this.#arrived = []
    this.#lastIndex = 0
    this.beginCell()
  }

  /** Cancels and drops all calls: the code was stopped, and the session continues. */
  cancelAll(): void {
    this.#cancel([...this.#pending.keys()])
    this.#arrived = []
    this.beginCell()
  }

  /** Cancels the calls of the current cell, and drops the cell. */
  cancelCell(): void {
    this.#cancel(this.#indicesOfCell())
    this.dropCell()
  }

  #isOfCell(index: number): boolean {
    return index > this.#lastIndexBeforeCell
  }

  #indicesOfCell(): number[] {
    return [...this.#pending.keys()].filter((index) => this.#isOfCell(index))
  }

  #cancel(indices: readonly number[]): void {
    for (const pending of this.#remove(indices)) pending.scope.cancel()
  }

  /** Drops calls. Their activities run to the end, and the results are ignored. Calls that only wait end now. */
  #drop(indices: readonly number[]): void {
    for (const { call, scope } of this.#remove(indices)) if (call.wait !== undefined) scope.cancel()
  }

  /** Removes calls. The caller cancels them afterwards, so that `#fail` ignores the cancellation. */
  #remove(indices: readonly number[]): PendingCall[] {
    const removed = indices.flatMap((index) => this.#pending.get(index) ?? [])
    for (const index of indices) this.#pending.delete(index)
    return removed
  }

  #arrive(index: number, scope: CancellationScope, outcome: CallOutcome): void {
    if (this.#pending.get(index)?.scope !== scope) return
    this.#pending.delete(index)
    this.#arrived.push({ index, outcome })
  }

  #fail(index: number, scope: CancellationScope, thrown: unknown): void {
    if (this.#pending.get(index)?.scope === scope) this.#failure ??= { thrown }
  }
}
