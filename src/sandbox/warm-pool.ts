import { pauseAfter } from '../common/async/growing-pause.js'
import { metrics } from '../common/telemetry/metrics.js'
import type { SandboxConnection, SandboxSpec } from './backend.js'

/** A started sandbox without a session. The pool is connected to it, and its runner waits for the first message. */
export interface IdleSandbox {
  readonly connection: SandboxConnection
  /** A time of `performance.now`. After this time the pool replaces the sandbox. */
  readonly usableUntil: number
}

export type ClaimOutcome =
  | 'claimed'
  /** The session already has a sandbox. */
  | 'exists'
  /** The idle sandbox is removed, has exited or is paused. */
  | 'unusable'

/** The idle sandboxes of a backend. */
export interface IdleSandboxes<Idle extends IdleSandbox> {
  create(): Promise<Idle>
  /** Returns whether an idle sandbox is like a new one of this session. */
  matcherOf(spec: SandboxSpec): Promise<(idle: Idle) => boolean>
  /**
   * Makes an idle sandbox that of a session, in one step that has one winner.
   *
   * @throws the reason of `signal`, and errors of the backend
   */
  claim(idle: Idle, spec: SandboxSpec, signal: AbortSignal): Promise<ClaimOutcome>
  /** Removes an idle sandbox, unless it was claimed. Never rejects. */
  discard(idle: Idle): Promise<void>
}

interface WarmPoolOptions<Idle extends IdleSandbox> {
  readonly namespace: string
  /** The number of idle sandboxes to keep. */
  readonly size: number
  readonly sandboxes: IdleSandboxes<Idle>
}

/** Delay after a claim, so that the start of the next container does not slow down the first cell of the session. */
const refillDelayMs = 200

/** Delay after idle sandboxes could not be created, or exited by themselves. It doubles with each failure. */
const pauses = { firstMs: 1_000, longestMs: 60_000 } as const

/**
 * Keeps started sandboxes without a session, and gives each to one session. Only the process that created an idle
 * sandbox does so. Those of a dead process end in the way of their backend.
 */
export class WarmPool<Idle extends IdleSandbox> {
  readonly #options: WarmPoolOptions<Idle>
  #idle: Idle[] = []
  #filling: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  /** Consecutive failures. */
  #failures = 0
  #closed = false

  constructor(options: WarmPoolOptions<Idle>) {
    this.#options = options
  }

  /** Creates the missing idle sandboxes in the background, one after the other. */
  fill(): void {
    this.#scheduleFill(0)
  }

  /**
   * Claims an idle sandbox for a session; undefined when none matches, or when the session already has a sandbox.
   *
   * @throws the reason of `signal`
   */
  async take(spec: SandboxSpec, signal: AbortSignal): Promise<Idle['connection'] | undefined> {
    const taken = await this.#take(spec, signal)
    metrics.add('ptc_warm_pool_claims_total', 1, { result: taken ? 'hit' : 'miss' })
    this.#recordSize()
    return taken
  }

  async #take(spec: SandboxSpec, signal: AbortSignal): Promise<Idle['connection'] | undefined> {
    const { sandboxes, namespace } = this.#options
    if (spec.namespace !== namespace || this.#idle.length === 0) return undefined
    const isMatch = await sandboxes.matcherOf(spec)
    for (let idle = this.#takeMatching(isMatch); idle !== undefined; idle = this.#takeMatching(isMatch)) {
      this.#scheduleFill(refillDelayMs)
      // The caller then creates a sandbox, and reports the error if the backend fails again.
      const outcome = await sandboxes.claim(idle, spec, signal).catch(() => 'unusable' as const)
      if (outcome === 'claimed') {
        this.#failures = 0
        if (!signal.aborted) return idle.connection
        // Opening was cancelled. The sandbox is that of the session, and is removed with it.
        await idle.connection.detach()
        throw signal.reason
      }
      if (outcome === 'exists') await this.#addOrDiscard(idle)
      else await sandboxes.discard(idle)
      signal.throwIfAborted()
      if (outcome === 'exists') return undefined
    }
    return undefined
  }

  /** Removes all idle sandboxes. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#filling
    await Promise.all(this.#idle.splice(0).map((idle) => this.#options.sandboxes.discard(idle)))
    this.#recordSize()
  }

  /** Takes an idle sandbox out of the pool, so that no other session gets it. */
  #takeMatching(isMatch: (idle: Idle) => boolean): Idle | undefined {
    const now = performance.now()
    const index = this.#idle.findIndex((idle) => now < idle.usableUntil && isMatch(idle))
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0]
  }

  #scheduleFill(milliseconds: number): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#filling = this.#filling.then(() => this.#fillNow())
      },
      Math.max(milliseconds, pauseAfter(this.#failures, pauses)),
    ).unref()
  }

  async #fillNow(): Promise<void> {
    const { size, sandboxes } = this.#options
    while (!this.#closed && this.#idle.length < size) {
      try {
        await this.#addOrDiscard(await sandboxes.create())
      } catch {
        // No caller waits for this. A session without an idle sandbox creates one, and reports a failure.
        this.#countFailure()
        return this.#scheduleFill(0)
      }
    }
  }

  /**
   * Adds a sandbox to the pool, or discards it, because the pool may have replaced it during a failed claim.
   */
  async #addOrDiscard(idle: Idle): Promise<void> {
    const { sandboxes, size } = this.#options
    if (this.#closed || this.#idle.length >= size) await sandboxes.discard(idle)
    else this.#add(idle)
  }

  #add(idle: Idle): void {
    this.#idle.push(idle)
    this.#recordSize()
    const renewal = setTimeout(() => this.#replace(idle, 'aged'), idle.usableUntil - performance.now()).unref()
    void idle.connection.ended.finally(() => clearTimeout(renewal)).then(() => this.#replace(idle, 'exited'))
  }

  /** Replaces an idle sandbox, unless a session has claimed it. */
  #replace(idle: Idle, reason: 'aged' | 'exited'): void {
    if (!this.#idle.includes(idle)) return
    this.#idle = this.#idle.filter((other) => other !== idle)
    this.#recordSize()
    if (reason === 'exited') this.#countFailure()
    else this.#failures = 0
    this.#filling = this.#filling.then(() => this.#options.sandboxes.discard(idle))
    this.#scheduleFill(0)
  }

  #countFailure(): void {
    this.#failures += 1
    metrics.add('ptc_warm_pool_failures_total', 1, {})
  }

  #recordSize(): void {
    metrics.setPart('ptc_warm_pool_idle', this, this.#idle.length)
  }
}
