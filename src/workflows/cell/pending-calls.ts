import { CancellationScope, condition } from '@temporalio/workflow'
import type { CallOutcome } from '../../common/outcomes.js'
import type { DeliveredResult, DescribedCall } from '../../common/steps.js'
import { utf8Length } from '../../common/text.js'

/** Results that go into one step together may not be larger than this (Temporal refuses payloads over 2 MiB). */
const maxStepBytes = 1_250_000

/** Numbers that an honest runner may leave out at once: calls that their code gave up before they were handed over. */
const maxIndexGap = 100_000

/** What is open when nothing is under way. */
export interface PendingCallsState {
  /** Calls that have not begun. */
  readonly notStarted: readonly CellCall[]
  readonly arrived: readonly DeliveredResult[]
  readonly lateResults: readonly DeliveredResult[]
  readonly lastIndex: number
  readonly lastIndexBeforeCell: number
}

/** A call, and the cell that made it. */
export interface CellCall {
  readonly call: DescribedCall
  readonly turn: number
  readonly cell: number
}

/** Takes the outcome of a call. */
export type RecordOutcome = (outcome: CallOutcome) => void

interface PendingCall extends CellCall {
  readonly scope: CancellationScope
}

/** The calls a program waits for, and the results that have arrived but not been handed over. */
export class PendingCalls {
  /** By index; the scope also tells a call from one of the same index that was made in a cell since dropped. */
  readonly #pending = new Map<number, PendingCall>()
  /** A session numbers its calls in the order they are made. */
  #lastIndex = 0
  #lastIndexBeforeCell = 0
  /** Handed over in this cell, to calls of earlier ones: were the cell dropped, the program would not have them. */
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

  /** To be taken when nothing is under way: every call that is open has yet to begin. */
  get state(): PendingCallsState {
    return {
      notStarted: [...this.#pending.values()].map(({ call, turn, cell }) => ({ call, turn, cell })),
      arrived: this.#arrived,
      lateResults: this.#lateResults,
      lastIndex: this.#lastIndex,
      lastIndexBeforeCell: this.#lastIndexBeforeCell,
    }
  }

  /** A cell begins; calls that earlier ones left open stay open. */
  beginCell(): void {
    this.#lastIndexBeforeCell = this.#lastIndex
    this.#lateResults = []
  }

  /** True when each index is above all before it, and not far, as an honest runner's are; activity ids are made of them. */
  haveNewIndices(calls: readonly DescribedCall[]): boolean {
    return calls.every(({ index }, position) => {
      const before = calls[position - 1]?.index ?? this.#lastIndex
      return index > before && index <= before + maxIndexGap
    })
  }

  /** True when a number was used before this cell: then the program's count was forged, and no cell of it can make calls. */
  reuseEarlierIndices(calls: readonly DescribedCall[]): boolean {
    return calls.some(({ index }) => !this.#isOfCell(index))
  }

  /** Starts serving a call; its result arrives whenever it does. */
  start(opened: CellCall, serve: (opened: CellCall, record: RecordOutcome) => Promise<void>): void {
    const scope = new CancellationScope()
    const { index } = opened.call
    this.#pending.set(index, { ...opened, scope })
    this.#lastIndex = Math.max(this.#lastIndex, index)
    scope
      .run(() => serve(opened, (outcome) => this.#arrive(index, scope, outcome)))
      .catch((thrown: unknown) => this.#fail(index, scope, thrown))
  }

  /** Calls whose result the program does not have yet. */
  get size(): number {
    return this.#pending.size + this.#arrived.length
  }

  /**
   * Waits until something has arrived, or time is up, or there is no point any more. Gives the results in the order they
   * arrived; empty when only time has passed.
   *
   * @throws what a call threw: the cancellation of the run
   */
  async waitForResults(wakeInMs: number | null, isAborted: () => boolean): Promise<readonly DeliveredResult[]> {
    const ready = (): boolean => this.#arrived.length > 0 || this.#failure !== undefined || isAborted()
    if (wakeInMs === null) await condition(ready)
    else if (!ready()) await condition(ready, Math.max(wakeInMs, 1))
    if (this.#failure) throw this.#failure.thrown
    return this.#takeArrived()
  }

  /** Forgets the current cell: its calls' results are dropped, those of earlier calls are to be handed over again. */
  dropCell(): void {
    for (const index of this.#indicesOfCell()) this.#pending.delete(index)
    const earlier = this.#arrived.filter(({ index }) => !this.#isOfCell(index))
    this.#arrived = [...this.#lateResults, ...earlier]
    this.#lastIndex = this.#lastIndexBeforeCell
    this.beginCell()
  }

  /** Forgets everything: the program that made the calls is gone. What still arrives is dropped. */
  clear(): void {
    this.#pending.clear()
    this.#arrived = []
    this.#lastIndex = 0
    this.beginCell()
  }

  /** Cancels every call and forgets it: the program was stopped, its session lives on. */
  cancelAll(): void {
    this.#cancel([...this.#pending.keys()])
    this.#arrived = []
    this.beginCell()
  }

  /** Cancels the calls of the current cell and forgets it. */
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

  /** Forgotten first: a call that was cancelled because nobody waits for it is no failure. */
  #cancel(indices: readonly number[]): void {
    for (const index of indices) {
      const open = this.#pending.get(index)
      this.#pending.delete(index)
      open?.scope.cancel()
    }
  }

  #arrive(index: number, scope: CancellationScope, outcome: CallOutcome): void {
    if (this.#pending.get(index)?.scope !== scope) return
    this.#pending.delete(index)
    this.#arrived.push({ index, outcome })
  }

  /** A call that was cancelled because nobody waits for it any more is no failure. */
  #fail(index: number, scope: CancellationScope, thrown: unknown): void {
    if (this.#pending.get(index)?.scope === scope) this.#failure ??= { thrown }
  }

  #takeArrived(): readonly DeliveredResult[] {
    let bytes = 0
    const fits = this.#arrived.findIndex((result) => (bytes += utf8Length(JSON.stringify(result))) > maxStepBytes)
    const count = fits < 0 ? this.#arrived.length : Math.max(fits, 1)
    const taken = this.#arrived.splice(0, count)
    this.#lateResults.push(...taken.filter(({ index }) => !this.#isOfCell(index)))
    return taken
  }
}
