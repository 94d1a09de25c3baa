import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { pauseAfter } from '../../../common/async/growing-pause.js'
import { metrics } from '../../../common/telemetry/metrics.js'
import type { SandboxSpec } from '../../backend.js'
import type { DockerConnection } from '../connection/docker-connection.js'
import type { ContainerCreateOptions } from '../container/container-create-options.js'
import { containerName } from '../container/sandbox-identity.js'
import {
  type IdleContainer,
  type IdleContainerOptions,
  claimIdleContainer,
  discardIdleContainer,
  createIdleContainer,
} from './idle-container.js'

interface WarmPoolOptions extends Omit<IdleContainerOptions, 'pool'> {
  /** The number of idle containers to keep. */
  readonly size: number
}

/** Delay after a claim, so that the start of the next container does not slow down the first cell of the session. */
const refillDelayMs = 200

/** Delay after idle containers could not be created, or exited by themselves. It doubles with each failure. */
const pauses = { firstMs: 1_000, longestMs: 60_000 } as const

/**
 * Keeps started containers without a session, and gives each to one session. Only the process that created an idle
 * container does so. Reapers remove the idle containers of a dead process after they expire.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions
  readonly #poolId = randomUUID()
  #idle: IdleContainer[] = []
  #filling: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  /** Consecutive failures. */
  #failures = 0
  #closed = false

  constructor(options: WarmPoolOptions) {
    this.#options = options
  }

  /** Creates the missing idle containers in the background, one after the other. */
  fill(): void {
    this.#scheduleFill(0)
  }

  /**
   * Claims an idle container for a session; undefined when none matches, or when the session already has a sandbox.
   *
   * @throws the reason of `signal`
   */
  async take(spec: SandboxSpec, signal: AbortSignal): Promise<DockerConnection | undefined> {
    const taken = await this.#take(spec, signal)
    metrics.add('ptc_warm_pool_claims_total', 1, { result: taken ? 'hit' : 'miss' })
    this.#recordSize()
    return taken
  }

  async #take(spec: SandboxSpec, signal: AbortSignal): Promise<DockerConnection | undefined> {
    const { engine, factory, namespace } = this.#options
    if (spec.namespace !== namespace || this.#idle.length === 0) return undefined
    const wanted = await factory.createOptions(spec, {})
    for (let idle = this.#takeMatching(wanted); idle !== undefined; idle = this.#takeMatching(wanted)) {
      this.#scheduleFill(refillDelayMs)
      // The caller then creates a container, and reports the error if the daemon fails again.
      const outcome = await claimIdleContainer(engine, idle, containerName(spec), signal).catch(
        () => 'unusable' as const,
      )
      if (outcome === 'claimed') {
        this.#failures = 0
        if (!signal.aborted) return idle.connection
        // Opening was cancelled. The container has the session's name, and is removed with the session.
        await idle.connection.detach()
        throw signal.reason
      }
      if (outcome === 'exists') await this.#addOrDiscard(idle)
      else await discardIdleContainer(engine, idle)
      signal.throwIfAborted()
      if (outcome === 'exists') return undefined
    }
    return undefined
  }

  /** Removes all idle containers. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#filling
    await Promise.all(this.#idle.splice(0).map((idle) => discardIdleContainer(this.#options.engine, idle)))
    this.#recordSize()
  }

  /** Takes an idle container out of the pool, so that no other session gets it. */
  #takeMatching(wanted: ContainerCreateOptions): IdleContainer | undefined {
    const now = performance.now()
    const index = this.#idle.findIndex(
      ({ body, usableUntil }) => now < usableUntil && isDeepStrictEqual(withoutIdentity(body), withoutIdentity(wanted)),
    )
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
    const { size } = this.#options
    while (!this.#closed && this.#idle.length < size) {
      try {
        const idle = await createIdleContainer({ ...this.#options, pool: this.#poolId })
        await this.#addOrDiscard(idle)
      } catch {
        // No caller waits for this. A session without an idle container creates one, and reports a failure.
        this.#countFailure()
        return this.#scheduleFill(0)
      }
    }
  }

  /**
   * Adds a container to the pool, or discards it, because the pool may have replaced the container during a failed
   * claim.
   */
  async #addOrDiscard(idle: IdleContainer): Promise<void> {
    const { engine, size } = this.#options
    if (this.#closed || this.#idle.length >= size) await discardIdleContainer(engine, idle)
    else this.#add(idle)
  }

  #add(idle: IdleContainer): void {
    this.#idle.push(idle)
    this.#recordSize()
    const renewal = setTimeout(() => this.#replace(idle, 'aged'), idle.usableUntil - performance.now()).unref()
    void idle.connection.ended.finally(() => clearTimeout(renewal)).then(() => this.#replace(idle, 'exited'))
  }

  /** Replaces an idle container, unless a session has claimed it. */
  #replace(idle: IdleContainer, reason: 'aged' | 'exited'): void {
    if (!this.#idle.includes(idle)) return
    this.#idle = this.#idle.filter((other) => other !== idle)
    this.#recordSize()
    if (reason === 'exited') this.#countFailure()
    else this.#failures = 0
    this.#filling = this.#filling.then(() => discardIdleContainer(this.#options.engine, idle))
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

/** Returns the create options without the user id and labels, which differ for each container. */
function withoutIdentity({ User: _user, Labels: _labels, ...rest }: ContainerCreateOptions): object {
  return rest
}
