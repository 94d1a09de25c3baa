import { condition } from '@temporalio/workflow'
import type { CallOutcome } from '../common/outcomes.js'
import { utf8Length } from '../common/text.js'
import type { DeliveredResult, DescribedCall } from '../common/steps.js'

/** Results that go into one step together may not be larger than this (Temporal refuses payloads over 2 MiB). */
const stepBytes = 1_250_000

/** The calls a program waits for, and the results that have arrived but not been handed over. */
export class OpenCalls {
  readonly #open = new Set<number>()
  readonly #madeInCell = new Set<number>()
  #arrived: DeliveredResult[] = []
  #failure: { readonly thrown: unknown } | undefined

  /** A cell begins; calls that earlier ones left open stay open. */
  beginCell(): void {
    this.#madeInCell.clear()
  }

  /** True when each index is new, as an honest runner's are; activity ids are made of them. */
  areNew(calls: readonly DescribedCall[]): boolean {
    const indices = new Set(calls.map(({ index }) => index))
    const known = [...indices].some((index) => this.#open.has(index) || this.#madeInCell.has(index))
    return !known && indices.size === calls.length
  }

  /** Starts serving a call; its result arrives whenever it does. */
  start(call: DescribedCall, serve: (call: DescribedCall) => Promise<CallOutcome>): void {
    this.#open.add(call.index)
    this.#madeInCell.add(call.index)
    serve(call).then(
      (outcome) => this.#arrive({ index: call.index, outcome }),
      (thrown: unknown) => (this.#failure ??= { thrown }),
    )
  }

  /** Calls whose result the program does not have yet. */
  get size(): number {
    return this.#open.size + this.#arrived.length
  }

  /**
   * Waits until something has arrived, or time is up. Gives the results in the order they arrived; empty when only time
   * has passed.
   *
   * @throws what a call threw: the cancellation of the run
   */
  async next(wakeInMs: number | null): Promise<readonly DeliveredResult[]> {
    const ready = (): boolean => this.#arrived.length > 0 || this.#failure !== undefined
    if (wakeInMs === null) await condition(ready)
    else if (!ready()) await condition(ready, Math.max(wakeInMs, 1))
    if (this.#failure) throw this.#failure.thrown
    return this.#take()
  }

  /** Forgets everything: the program that made the calls is gone. What still arrives is dropped. */
  clear(): void {
    this.#open.clear()
    this.#arrived = []
  }

  #arrive(result: DeliveredResult): void {
    if (this.#open.delete(result.index)) this.#arrived.push(result)
  }

  #take(): readonly DeliveredResult[] {
    let bytes = 0
    const fits = this.#arrived.findIndex((result) => (bytes += utf8Length(JSON.stringify(result))) > stepBytes)
    const count = fits < 0 ? this.#arrived.length : Math.max(fits, 1)
    return this.#arrived.splice(0, count)
  }
}
