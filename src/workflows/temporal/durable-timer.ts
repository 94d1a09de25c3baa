import { CancellationScope, sleep } from '@temporalio/workflow'

interface Schedule {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly summary: string
  readonly onFire: () => void
}

/**
 * A timer that is often rescheduled, and fires at the time of its latest schedule.
 *
 * A Temporal timer takes two events of the history, and most schedules are replaced long before they are due. So one
 * Temporal timer keeps running over several schedules. When it fires too early, another one is started for the
 * remaining time.
 */
export class DurableTimer {
  #due: Schedule | undefined
  #timer: { readonly at: number; readonly scope: CancellationScope } | undefined

  /**
   * Replaces the schedule.
   *
   * @param at milliseconds since the epoch; `Infinity` and `NaN` never fire
   * @param summary for the Temporal UI; a later schedule that uses the same Temporal timer does not change it
   */
  schedule(at: number, summary: string, onFire: () => void): void {
    this.cancel()
    if (!Number.isFinite(at)) return
    this.#due = { at, summary, onFire }
    if (this.#timer === undefined || this.#timer.at > at) this.#startTimer(this.#due)
  }

  get isScheduled(): boolean {
    return this.#due !== undefined
  }

  /** Removes the schedule. The Temporal timer keeps running. */
  cancel(): void {
    this.#due = undefined
  }

  /** Removes the schedule and cancels the Temporal timer. Idempotent. */
  close(): void {
    this.cancel()
    this.#timer?.scope.cancel()
  }

  #startTimer({ at, summary }: Schedule): void {
    this.#timer?.scope.cancel()
    const timer = { at, scope: new CancellationScope() }
    this.#timer = timer
    timer.scope
      .run(() => sleep(Math.max(at - Date.now(), 1), { summary }))
      .then(
        () => this.#onTimer(timer),
        () => this.#forgetTimer(timer), // replaced by an earlier timer, closed, or cancelled with the run
      )
  }

  #onTimer(timer: object): void {
    this.#forgetTimer(timer)
    if (this.#due === undefined) return
    const { at, onFire } = this.#due
    if (at > Date.now()) {
      this.#startTimer(this.#due)
    } else {
      this.cancel()
      onFire()
    }
  }

  #forgetTimer(timer: object): void {
    if (this.#timer === timer) this.#timer = undefined
  }
}
