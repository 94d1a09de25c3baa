import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SandboxSpec } from '../backend.js'
import type { DockerConnection } from './connection.js'
import type { ContainerBody } from './container-body.js'
import { containerName } from './identity.js'
import { type Spare, type SpareOptions, claimSpare, discardSpare, makeSpare } from './spare.js'

export interface WarmPoolOptions extends Omit<SpareOptions, 'pool'> {
  /** Spares to keep. */
  readonly size: number
}

/** After a hand-out: the session's first cell is not to share the machine with the start of a container. */
const refillMs = 200

/** When spares can't be made, or end by themselves: doubled each time. */
const backoffMs = { first: 1_000, most: 60_000 } as const

/**
 * Keeps containers started before they are needed and hands each out once. Only the process that made a spare hands it
 * out; what a dead process leaves, reapers remove once its time is over.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions
  readonly #pool = randomUUID()
  #spares: Spare[] = []
  #filling: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  /** In a row. */
  #failures = 0
  #closed = false

  constructor(options: WarmPoolOptions) {
    this.#options = options
  }

  /** Makes what is missing, in the background, one at a time. */
  fill(): void {
    this.#fillIn(0)
  }

  /**
   * A spare that is the session's from now on; undefined when none fits, or the session has its sandbox already.
   *
   * @throws the reason of `signal`
   */
  async take(spec: SandboxSpec, signal: AbortSignal): Promise<DockerConnection | undefined> {
    const { engine, maker, owner } = this.#options
    if (spec.namespace !== owner || this.#spares.length === 0) return undefined
    const wanted = await maker.body(spec, {}, spec.limits)
    for (let spare = this.#next(wanted); spare !== undefined; spare = this.#next(wanted)) {
      this.#fillIn(refillMs)
      // A daemon that fails here fails again for who makes a container: that one reports it.
      const outcome = await claimSpare(engine, spare, containerName(spec), signal).catch(() => 'unfit' as const)
      if (outcome === 'claimed') {
        this.#failures = 0
        if (!signal.aborted) return spare.connection
        // Nobody waits for it any more; it has the session's name, and is removed with the session.
        await spare.connection.detach()
        throw signal.reason
      }
      if (outcome === 'exists') await this.#keepOrDiscard(spare)
      else await discardSpare(engine, spare)
      signal.throwIfAborted()
      if (outcome === 'exists') return undefined
    }
    return undefined
  }

  /** Removes every spare. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#filling
    await Promise.all(this.#spares.splice(0).map((spare) => discardSpare(this.#options.engine, spare)))
  }

  /** Out of the pool, so that nobody else gets it. */
  #next(wanted: ContainerBody): Spare | undefined {
    const now = performance.now()
    const index = this.#spares.findIndex(
      ({ body, usableUntil }) => now < usableUntil && isDeepStrictEqual(shared(body), shared(wanted)),
    )
    return index < 0 ? undefined : this.#spares.splice(index, 1)[0]
  }

  #fillIn(milliseconds: number): void {
    if (this.#closed || this.#timer !== undefined) return
    const backoff = this.#failures === 0 ? 0 : Math.min(backoffMs.first * 2 ** (this.#failures - 1), backoffMs.most)
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#filling = this.#filling.then(() => this.#fillNow())
      },
      Math.max(milliseconds, backoff),
    ).unref()
  }

  async #fillNow(): Promise<void> {
    const { size } = this.#options
    while (!this.#closed && this.#spares.length < size) {
      try {
        const spare = await makeSpare({ ...this.#options, pool: this.#pool })
        await this.#keepOrDiscard(spare)
      } catch {
        // Nobody waits for it; a session that finds none makes its own container, and hears why that fails.
        this.#failures += 1
        return this.#fillIn(0)
      }
    }
  }

  /** The pool may be full again: what was out for a claim has been replaced meanwhile. */
  async #keepOrDiscard(spare: Spare): Promise<void> {
    const { engine, size } = this.#options
    if (this.#closed || this.#spares.length >= size) await discardSpare(engine, spare)
    else this.#keep(spare)
  }

  #keep(spare: Spare): void {
    this.#spares.push(spare)
    const renewal = setTimeout(() => this.#drop(spare, 'aged'), spare.usableUntil - performance.now()).unref()
    void spare.connection.ended.finally(() => clearTimeout(renewal)).then(() => this.#drop(spare, 'ended'))
  }

  /** Replaces a spare that is still here; one that has a session is none of ours. */
  #drop(spare: Spare, why: 'aged' | 'ended'): void {
    if (!this.#spares.includes(spare)) return
    this.#spares = this.#spares.filter((other) => other !== spare)
    this.#failures = why === 'ended' ? this.#failures + 1 : 0
    this.#filling = this.#filling.then(() => discardSpare(this.#options.engine, spare))
    this.#fillIn(0)
  }
}

/** What a container has in common with others of its kind: everything but whose it is. */
function shared({ User: _user, Labels: _labels, ...rest }: ContainerBody): object {
  return rest
}
