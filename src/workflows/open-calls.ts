import { CancellationScope, condition } from '@temporalio/workflow'
import type { CallOutcome } from '../common/outcomes.js'
import { utf8Length } from '../common/text.js'
import type { DeliveredResult, DescribedCall } from '../common/steps.js'

/** Results that go into one step together may not be larger than this (Temporal refuses payloads over 2 MiB). */
const stepBytes = 1_250_000

/** The calls a program waits for, and the results that have arrived but not been handed over. */
export class OpenCalls {
  /** By index; the scope also tells a call from one of the same index that was made in a cell since dropped. */
  readonly #open = new Map<number, CancellationScope>()
  readonly #madeInCell = new Set<number>()
  /** Handed over in this cell, to calls of earlier ones: were the cell dropped, the program would not have them. */
  #lateResults: DeliveredResult[] = []
  #arrived: DeliveredResult[] = []
  #failure: { readonly thrown: unknown } | undefined

  /** A cell begins; calls that earlier ones left open stay open. */
  beginCell(): void {
    this.#madeInCell.clear()
    this.#lateResults = []
  }

  /** True when each index is new, as an honest runner's are; activity ids are made of them. */
  areNew(calls: readonly DescribedCall[]): boolean {
    const indices = new Set(calls.map(({ index }) => index))
    const known = [...indices].some((index) => this.#open.has(index) || this.#madeInCell.has(index))
    return !known && indices.size === calls.length
  }

  /** Starts serving a call; its result arrives whenever it does. */
  start(call: DescribedCall, serve: (call: DescribedCall) => Promise<CallOutcome>): void {
    const scope = new CancellationScope()
    this.#open.set(call.index, scope)
    this.#madeInCell.add(call.index)
    scope
      .run(() => serve(call))
      .then(
        (outcome) => this.#arrive(call.index, scope, outcome),
        (thrown: unknown) => this.#fail(call.index, scope, thrown),
      )
  }

  /** Calls whose result the program does not have yet. */
  get size(): number {
    return this.#open.size + this.#arrived.length
  }

  /**
   * Waits until something has arrived, or time is up, or there is no point any more. Gives the results in the order they
   * arrived; empty when only time has passed.
   *
   * @throws what a call threw: the cancellation of the run
   */
  async next(wakeInMs: number | null, isPointless: () => boolean): Promise<readonly DeliveredResult[]> {
    const ready = (): boolean => this.#arrived.length > 0 || this.#failure !== undefined || isPointless()
    if (wakeInMs === null) await condition(ready)
    else if (!ready()) await condition(ready, Math.max(wakeInMs, 1))
    if (this.#failure) throw this.#failure.thrown
    return this.#take()
  }

  /** Forgets the current cell: its calls' results are dropped, those of earlier calls are to be handed over again. */
  dropCell(): void {
    for (const index of this.#madeInCell) this.#open.delete(index)
    const earlier = this.#arrived.filter(({ index }) => !this.#madeInCell.has(index))
    this.#arrived = [...this.#lateResults, ...earlier]
    this.beginCell()
  }

  /** Forgets everything: the program that made the calls is gone. What still arrives is dropped. */
  clear(): void {
    this.#open.clear()
    this.#arrived = []
    this.beginCell()
  }

  /** Cancels every call and forgets it: the program was stopped. */
  cancel(): void {
    this.#cancel([...this.#open.keys()])
    this.clear()
  }

  /** Cancels the calls of the current cell and forgets it. */
  cancelCell(): void {
    this.#cancel([...this.#madeInCell])
    this.dropCell()
  }

  /** Forgotten first: a call that was cancelled because nobody waits for it is no failure. */
  #cancel(indices: readonly number[]): void {
    for (const index of indices) {
      const scope = this.#open.get(index)
      this.#open.delete(index)
      scope?.cancel()
    }
  }

  #arrive(index: number, scope: CancellationScope, outcome: CallOutcome): void {
    if (this.#open.get(index) !== scope) return
    this.#open.delete(index)
    this.#arrived.push({ index, outcome })
  }

  /** A call that was cancelled because nobody waits for it any more is no failure. */
  #fail(index: number, scope: CancellationScope, thrown: unknown): void {
    if (this.#open.get(index) === scope) this.#failure ??= { thrown }
  }

  #take(): readonly DeliveredResult[] {
    let bytes = 0
    const fits = this.#arrived.findIndex((result) => (bytes += utf8Length(JSON.stringify(result))) > stepBytes)
    const count = fits < 0 ? this.#arrived.length : Math.max(fits, 1)
    const taken = this.#arrived.splice(0, count)
    this.#lateResults.push(...taken.filter(({ index }) => !this.#madeInCell.has(index)))
    return taken
  }
}
