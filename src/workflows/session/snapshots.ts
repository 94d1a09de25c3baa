import { CancellationScope } from '@temporalio/workflow'
import { pickStepLimits } from '../../common/run/limits.js'
import type { RunConfig, SnapshotConfig } from '../../common/run/run-config.js'
import type { SessionRef } from '../../common/session/session.js'
import { snapshotSession } from '../temporal/activities.js'
import type { Journal } from './journal.js'

/** The snapshots of a session for the next execution of the continue-as-new chain. */
export interface SnapshotPolicyState {
  /** Milliseconds that the steps since the latest snapshot took. */
  readonly ms: number
  /** Number of steps that the session must have before the next attempt. */
  readonly notBefore: number
  /** Bytes of all snapshots that were stored. */
  readonly storedBytes: number
}

/** Steps of a session, and how many of them a rebuild would repeat. */
interface StepCounts {
  readonly all: number
  readonly repeated: number
}

/** Decides when a snapshot is due: when a rebuild without it would take long. */
export class SnapshotPolicy {
  readonly #config: SnapshotConfig | undefined
  readonly #maxStoredBytes: number
  #ms: number
  #notBefore: number
  #storedBytes: number

  /**
   * @param config undefined: snapshots are off
   * @param maxStoredBytes bytes of all snapshots of the session; afterwards no snapshot is due, and rebuilds take
   *   longer
   */
  constructor(
    config: SnapshotConfig | undefined,
    maxStoredBytes: number,
    state: SnapshotPolicyState = { ms: 0, notBefore: 0, storedBytes: 0 },
  ) {
    this.#config = config
    this.#maxStoredBytes = maxStoredBytes
    this.#ms = state.ms
    this.#notBefore = state.notBefore
    this.#storedBytes = state.storedBytes
  }

  get state(): SnapshotPolicyState {
    return { ms: this.#ms, notBefore: this.#notBefore, storedBytes: this.#storedBytes }
  }

  addStepTime(ms: number): void {
    this.#ms += ms
  }

  /** Returns whether a snapshot is due now. */
  isDue({ all, repeated }: StepCounts): boolean {
    const config = this.#config
    if (config === undefined || repeated === 0 || all < this.#notBefore) return false
    if (this.#storedBytes >= this.#maxStoredBytes) return false
    const { everySteps = 50, everyMs = 20_000 } = config
    return repeated >= everySteps || this.#ms >= everyMs
  }

  /** @param bytes of the snapshot that was stored */
  recordStored(bytes: number): void {
    this.#storedBytes += bytes
    this.#ms = 0
    this.#notBefore = 0
  }

  /**
   * Called when no snapshot was stored, or when it could not be restored. The next attempt is due after twice as many
   * steps.
   */
  recordFailure({ all, repeated }: StepCounts): void {
    this.#notBefore = all + Math.max(repeated, 1)
  }
}

/** Takes the snapshots of a session, in the background. A snapshot that fails does not fail the session. */
export class Snapshots {
  readonly #config: RunConfig
  readonly #journal: Journal
  readonly #policy: SnapshotPolicy
  #current: { readonly done: Promise<void>; readonly scope: CancellationScope } | undefined

  /** @param state of the same session in the execution before this one */
  constructor(config: RunConfig, journal: Journal, state?: SnapshotPolicyState) {
    this.#config = config
    this.#journal = journal
    this.#policy = new SnapshotPolicy(config.snapshots, config.limits.storedBytes, state)
  }

  get state(): SnapshotPolicyState {
    return this.#policy.state
  }

  /** Resolves when the snapshot in progress has ended or failed; undefined when none is in progress. Never rejects. */
  get inProgress(): Promise<void> | undefined {
    return this.#current?.done
  }

  /** @param ms duration of a step */
  addStepTime(ms: number): void {
    this.#policy.addStepTime(ms)
  }

  /** Starts a snapshot if one is due. Called between two cells. */
  startIfDue(session: SessionRef, hostQueue: string): void {
    if (this.#current !== undefined || !this.#policy.isDue(this.#stepCounts)) return
    const scope = new CancellationScope()
    this.#current = { done: this.#settle(scope, () => this.#take(session, hostQueue)), scope }
  }

  cancel(): void {
    this.#current?.scope.cancel()
  }

  /** Called when no snapshot was stored, or when it could not be restored. */
  recordFailure(): void {
    this.#policy.recordFailure(this.#stepCounts)
  }

  get #stepCounts(): StepCounts {
    return { all: this.#journal.length, repeated: this.#journal.stepsToRepeat.steps }
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
    this.#policy.recordStored(result.state.bytes)
  }
}
