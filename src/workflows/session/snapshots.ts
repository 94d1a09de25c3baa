import { CancellationScope } from '@temporalio/workflow'
import { pickStepLimits } from '../../common/run/limits.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { SessionRef } from '../../common/session/session.js'
import { snapshotSession } from '../temporal/activities.js'
import type { Journal } from './journal.js'

export interface SnapshotsState {
  /** Milliseconds that the steps since the latest snapshot took. */
  readonly ms: number
  /** Number of steps that the session must have before the next attempt. */
  readonly notBefore: number
  readonly storedBytes: number
}

/** Takes the snapshots of a session, in the background. A snapshot that fails does not fail the session. */
export class Snapshots {
  readonly #config: Pick<RunConfig, 'snapshots' | 'limits' | 'timeouts'>
  readonly #journal: Journal
  #state: SnapshotsState
  #current: { readonly done: Promise<void>; readonly scope: CancellationScope } | undefined

  constructor(
    config: Pick<RunConfig, 'snapshots' | 'limits' | 'timeouts'>,
    journal: Journal,
    state: SnapshotsState = { ms: 0, notBefore: 0, storedBytes: 0 },
  ) {
    this.#config = config
    this.#journal = journal
    this.#state = state
  }

  get state(): SnapshotsState {
    return this.#state
  }

  /** Resolves when the snapshot in progress has ended or failed; undefined when none is in progress. Never rejects. */
  get inProgress(): Promise<void> | undefined {
    return this.#current?.done
  }

  addStepTime(ms: number): void {
    this.#state = { ...this.#state, ms: this.#state.ms + ms }
  }

  /** Starts a snapshot if one is due. Called between two cells. */
  startIfDue(session: SessionRef, hostQueue: string): void {
    if (!this.isDue || this.#current) return
    const scope = new CancellationScope()
    this.#current = { done: this.#settle(scope, () => this.#take(session, hostQueue)), scope }
  }

  cancel(): void {
    this.#current?.scope.cancel()
  }

  /**
   * True when a rebuild without a snapshot would take long. After `limits.storedBytes` bytes of snapshots, none is due,
   * and rebuilds take longer.
   */
  get isDue(): boolean {
    const { snapshots: config, limits } = this.#config
    const { ms, notBefore, storedBytes } = this.#state
    const { length, stepsToRepeat } = this.#journal
    if (!config || stepsToRepeat.steps === 0 || length < notBefore || storedBytes >= limits.storedBytes) return false
    const { everySteps = 50, everyMs = 20_000 } = config
    return stepsToRepeat.steps >= everySteps || ms >= everyMs
  }

  recordStored(bytes: number): void {
    this.#state = { ms: 0, notBefore: 0, storedBytes: this.#state.storedBytes + bytes }
  }

  /**
   * Called when no snapshot was stored, or when it could not be restored. The next attempt is due after twice as many
   * steps.
   */
  recordFailure(): void {
    const { length, stepsToRepeat } = this.#journal
    this.#state = { ...this.#state, notBefore: length + Math.max(stepsToRepeat.steps, 1) }
  }

  async #settle(scope: CancellationScope, take: () => Promise<void>): Promise<void> {
    try {
      await scope.run(take)
    } catch {
      this.recordFailure() // if the sandbox is the cause, the next step finds out
    }
    this.#current = undefined
  }

  async #take(session: SessionRef, hostQueue: string): Promise<void> {
    const { position } = this.#journal
    const limits = pickStepLimits(this.#config.limits)
    const input = { session, step: position.steps, limits }
    const result = await snapshotSession(input, hostQueue, this.#config.timeouts)
    if (result.type === 'skipped') return this.recordFailure()
    this.#journal.setSnapshot(result.state, position)
    this.recordStored(result.state.bytes)
  }
}
