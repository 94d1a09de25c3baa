import type { SnapshotConfig } from '../../common/run-config.js'

export interface SnapshotPolicyState {
  /** Of the steps since the latest snapshot. */
  readonly ms: number
  /** Steps that the session has at least when the next one is tried. */
  readonly notBefore: number
  /** Of all snapshots that were kept; undefined in histories from before they were counted. */
  readonly storedBytes?: number
}

/** When a snapshot is worth its while: when a rebuild without it would be long. */
export class SnapshotPolicy {
  readonly #config: SnapshotConfig | undefined
  #ms: number
  #notBefore: number
  #storedBytes: number
  readonly #maxStoredBytes: number

  /**
   * @param plan undefined: never
   * @param maxStoredBytes of the session's snapshots together: after these there are no more, and rebuilds take longer
   */
  constructor(
    plan: SnapshotConfig | undefined,
    maxStoredBytes: number,
    state: SnapshotPolicyState = { ms: 0, notBefore: 0 },
  ) {
    this.#config = plan
    this.#maxStoredBytes = maxStoredBytes
    this.#ms = state.ms
    this.#notBefore = state.notBefore
    this.#storedBytes = state.storedBytes ?? 0
  }

  get state(): SnapshotPolicyState {
    return { ms: this.#ms, notBefore: this.#notBefore, storedBytes: this.#storedBytes }
  }

  addStepTime(ms: number): void {
    this.#ms += ms
  }

  /**
   * The plan, if now is the time.
   *
   * @param steps of the session, and how many of them a rebuild would repeat
   */
  configIfDue({ all, repeated }: { readonly all: number; readonly repeated: number }): SnapshotConfig | undefined {
    const plan = this.#config
    if (plan === undefined || repeated === 0 || all < this.#notBefore) return undefined
    if (this.#storedBytes >= this.#maxStoredBytes) return undefined
    return repeated >= plan.everySteps || this.#ms >= plan.everyMs ? plan : undefined
  }

  /** @param bytes of the snapshot */
  recordStored(bytes: number): void {
    this.#storedBytes += bytes
    this.#ms = 0
    this.#notBefore = 0
  }

  /** There is none, or it was of no use: twice as many steps may be repeated before the next. */
  recordFailure({ all, repeated }: { readonly all: number; readonly repeated: number }): void {
    this.#notBefore = all + Math.max(repeated, 1)
  }
}
