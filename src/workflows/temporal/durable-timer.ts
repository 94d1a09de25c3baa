import { CancellationScope, sleep } from '@temporalio/workflow'

/** Due in milliseconds since the epoch, and what then. */
interface Schedule {
  readonly at: number
  readonly onFire: () => void
}

/**
 * Rings once, at the time it was last set to. A durable timer is two events of history, and most alarms are put off long before
 * they ring; so one timer runs on under many of them, and what it is for is looked at when it fires.
 */
export class DurableTimer {
  #due: Schedule | undefined
  #timer: { readonly at: number; readonly scope: CancellationScope } | undefined

  /** @param at milliseconds since the epoch; what is no time, such as Infinity, never comes */
  schedule(at: number, onFire: () => void): void {
    this.cancel()
    if (!Number.isFinite(at)) return
    this.#due = { at, onFire }
    if (this.#timer === undefined || this.#timer.at > at) this.#startTimer(at)
  }

  cancel(): void {
    this.#due = undefined
  }

  /** Stops the timer too. Idempotent. */
  close(): void {
    this.cancel()
    this.#timer?.scope.cancel()
  }

  #startTimer(at: number): void {
    this.#timer?.scope.cancel()
    const timer = { at, scope: new CancellationScope() }
    this.#timer = timer
    timer.scope
      .run(() => sleep(Math.max(at - Date.now(), 1)))
      .then(
        () => this.#onTimer(timer),
        () => this.#forgetTimer(timer), // cancelled, by a nearer time or with the run
      )
  }

  #onTimer(timer: object): void {
    this.#forgetTimer(timer)
    if (this.#due === undefined) return
    const { at, onFire } = this.#due
    if (at > Date.now()) {
      this.#startTimer(at)
    } else {
      this.cancel()
      onFire()
    }
  }

  #forgetTimer(timer: object): void {
    if (this.#timer === timer) this.#timer = undefined
  }
}
