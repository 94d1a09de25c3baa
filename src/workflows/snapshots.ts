import { CancellationScope } from '@temporalio/workflow'
import { stepLimits } from '../common/limits.js'
import type { RunPlan } from '../common/plan.js'
import type { SnapshotPlan } from '../common/snapshots.js'
import type { SessionRef } from '../common/steps.js'
import { snapshotSession } from './engine.js'
import type { Journal } from './journal.js'
import { SnapshotPolicy, type SnapshotPolicyState } from './snapshot-policy.js'

/** The snapshots of a session: made beside everything else, and never the reason that something fails. */
export class Snapshots {
  readonly #plan: RunPlan
  readonly #journal: Journal
  readonly #policy: SnapshotPolicy
  #current: { readonly done: Promise<void>; readonly scope: CancellationScope } | undefined

  /** @param state of the same session in an earlier run of the chain */
  constructor(plan: RunPlan, journal: Journal, state?: SnapshotPolicyState) {
    this.#plan = plan
    this.#journal = journal
    this.#policy = new SnapshotPolicy(plan.snapshots, plan.limits.storedBytes, state)
  }

  get state(): SnapshotPolicyState {
    return this.#policy.state
  }

  /** Settles when the one that is under way has ended, however; undefined when there is none. Never rejects. */
  get underWay(): Promise<void> | undefined {
    return this.#current?.done
  }

  /** A step took so long. */
  took(ms: number): void {
    this.#policy.took(ms)
  }

  /** To be called between two cells: begins a snapshot, if a rebuild would be long without. */
  begin(session: SessionRef, hostQueue: string): void {
    const due = this.#policy.due(this.#steps)
    if (due === undefined || this.#current !== undefined) return
    const scope = new CancellationScope()
    this.#current = { done: this.#toItsEnd(scope, () => this.#take(due, session, hostQueue)), scope }
  }

  cancel(): void {
    this.#current?.scope.cancel()
  }

  /** The latest was not to be had, or of no use. */
  failed(): void {
    this.#policy.failed(this.#steps)
  }

  get #steps(): { readonly all: number; readonly repeated: number } {
    return { all: this.#journal.length, repeated: this.#journal.repeated.steps }
  }

  async #toItsEnd(scope: CancellationScope, take: () => Promise<void>): Promise<void> {
    try {
      await scope.run(take)
    } catch {
      this.failed() // the next step does without, and finds out what is wrong with its sandbox
    }
    this.#current = undefined
  }

  async #take({ bytes, seconds }: SnapshotPlan, session: SessionRef, hostQueue: string): Promise<void> {
    const { place } = this.#journal
    const limits = stepLimits(this.#plan.limits)
    const input = { session, step: place.steps, limits, bytes, seconds }
    const answer = await snapshotSession(input, hostQueue, this.#plan.timings)
    if (answer.type === 'refused') return this.failed()
    this.#journal.keepSnapshot(answer.state, place)
    this.#policy.kept(answer.state.bytes)
  }
}
