import { CancellationScope, sleep } from '@temporalio/workflow'

/** Due in milliseconds since the epoch, and what then. */
interface Due {
  readonly at: number
  readonly ring: () => void
}

/**
 * Rings once, at the time it was last set to. A durable timer is two events of history, and most alarms are put off long before
 * they ring; so one timer runs on under many of them, and what it is for is looked at when it fires.
 */
export class Alarm {
  #due: Due | undefined
  #timer: { readonly at: number; readonly scope: CancellationScope } | undefined

  /** @param at milliseconds since the epoch; what is no time, such as Infinity, never comes */
  set(at: number, ring: () => void): void {
    this.clear()
    if (!Number.isFinite(at)) return
    this.#due = { at, ring }
    if (this.#timer === undefined || this.#timer.at > at) this.#wind(at)
  }

  clear(): void {
    this.#due = undefined
  }

  /** Stops the timer too. Idempotent. */
  close(): void {
    this.clear()
    this.#timer?.scope.cancel()
  }

  #wind(at: number): void {
    this.#timer?.scope.cancel()
    const timer = { at, scope: new CancellationScope() }
    this.#timer = timer
    timer.scope
      .run(() => sleep(Math.max(at - Date.now(), 1)))
      .then(
        () => this.#fire(timer),
        () => this.#forget(timer), // cancelled, by a nearer time or with the run
      )
  }

  #fire(timer: object): void {
    this.#forget(timer)
    if (this.#due === undefined) return
    const { at, ring } = this.#due
    if (at > Date.now()) {
      this.#wind(at)
    } else {
      this.clear()
      ring()
    }
  }

  #forget(timer: object): void {
    if (this.#timer === timer) this.#timer = undefined
  }
}
