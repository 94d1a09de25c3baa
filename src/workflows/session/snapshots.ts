import { CancellationScope } from '@temporalio/workflow'
import { pickStepLimits } from '../../common/limits.js'
import type { RunConfig, SnapshotConfig } from '../../common/run-config.js'
import type { SessionRef } from '../../common/session.js'
import { snapshotSession } from '../temporal/activities.js'
import type { Journal } from './journal.js'
import { SnapshotPolicy, type SnapshotPolicyState } from './snapshot-policy.js'

/** The snapshots of a session: made beside everything else, and never the reason that something fails. */
export class Snapshots {
  readonly #config: RunConfig
  readonly #journal: Journal
  readonly #policy: SnapshotPolicy
  #current: { readonly done: Promise<void>; readonly scope: CancellationScope } | undefined

  /** @param state of the same session in an earlier run of the chain */
  constructor(plan: RunConfig, journal: Journal, state?: SnapshotPolicyState) {
    this.#config = plan
    this.#journal = journal
    this.#policy = new SnapshotPolicy(plan.snapshots, plan.limits.storedBytes, state)
  }

  get state(): SnapshotPolicyState {
    return this.#policy.state
  }

  /** Settles when the one that is under way has ended, however; undefined when there is none. Never rejects. */
  get inProgress(): Promise<void> | undefined {
    return this.#current?.done
  }

  /** A step took so long. */
  addStepTime(ms: number): void {
    this.#policy.addStepTime(ms)
  }

  /** To be called between two cells: begins a snapshot, if a rebuild would be long without. */
  startIfDue(session: SessionRef, hostQueue: string): void {
    const due = this.#policy.configIfDue(this.#steps)
    if (due === undefined || this.#current !== undefined) return
    const scope = new CancellationScope()
    this.#current = { done: this.#settle(scope, () => this.#take(due, session, hostQueue)), scope }
  }

  cancel(): void {
    this.#current?.scope.cancel()
  }

  /** The latest was not to be had, or of no use. */
  recordFailure(): void {
    this.#policy.recordFailure(this.#steps)
  }

  get #steps(): { readonly all: number; readonly repeated: number } {
    return { all: this.#journal.length, repeated: this.#journal.stepsToRepeat.steps }
  }

  async #settle(scope: CancellationScope, take: () => Promise<void>): Promise<void> {
    try {
      await scope.run(take)
    } catch {
      this.recordFailure() // the next step does without, and finds out what is wrong with its sandbox
    }
    this.#current = undefined
  }

  async #take({ maxBytes, timeoutSeconds }: SnapshotConfig, session: SessionRef, hostQueue: string): Promise<void> {
    const { position } = this.#journal
    const limits = pickStepLimits(this.#config.limits)
    const input = { session, step: position.steps, limits, maxBytes, timeoutSeconds }
    const answer = await snapshotSession(input, hostQueue, this.#config.timeouts)
    if (answer.type === 'skipped') return this.recordFailure()
    this.#journal.setSnapshot(answer.state, position)
    this.#policy.recordStored(answer.state.bytes)
  }
}
