import { Transform } from 'node:stream'
import type { FailureReason, NetworkAccess } from './access.js'
import { type Destination, Refusal, type RefusalRule } from './policy.js'

/** A request that was allowed and did not come to its end. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError'
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

/** One request or connection of a program: counts its bytes, and reports what becomes of it. */
export class Exchange {
  readonly #access: NetworkAccess
  readonly #number: number
  readonly #method: string
  readonly #startedAt = performance.now()
  #destination: Destination | undefined
  #sent = 0
  #received = 0
  /** The request has gone out, and its end is not reported. */
  #isOpen = false

  /** @param number of the request in the step */
  constructor(access: NetworkAccess, number: number, method: string) {
    this.#access = access
    this.#number = number
    this.#method = method
  }

  set destination(destination: Destination) {
    this.#destination = destination
  }

  /** Reports that the request goes out. @throws Refusal when that can't be stored */
  async start(): Promise<void> {
    try {
      await this.#access.observe(this.#number, { type: 'request.started', ...this.#requested })
    } catch (cause) {
      throw new Refusal('audit', 'the audit log can not be written', 503, cause)
    }
    this.#isOpen = true
  }

  refuse(rule: RefusalRule): void {
    void this.#access
      .observe(this.#number, { type: 'request.refused', ...this.#requested, rule })
      .catch(() => undefined)
  }

  complete(status: number): void {
    this.#end({ type: 'request.completed', status })
  }

  fail(reason: FailureReason): void {
    this.#end({ type: 'request.failed', reason })
  }

  /** A stream that counts what passes, and fails at the limit of the request. */
  meter(direction: 'sent' | 'received'): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (direction === 'sent') this.#sent += chunk.length
        else this.#received += chunk.length
        const { bytesPerRequest } = this.#access.rules
        if (this.#sent + this.#received <= bytesPerRequest) return done(null, chunk)
        done(new ExchangeError('bytes', `the request and its response have over ${bytesPerRequest} bytes`))
      },
    })
  }

  get #requested() {
    const { host = '', port = 0 } = this.#destination ?? {}
    return { host, port, method: this.#method }
  }

  #end(
    event:
      | { readonly type: 'request.completed'; readonly status: number }
      | { readonly type: 'request.failed'; readonly reason: FailureReason },
  ): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const durationMs = Math.round(performance.now() - this.#startedAt)
    const transferred = { bytesSent: this.#sent, bytesReceived: this.#received, durationMs }
    void this.#access.observe(this.#number, { ...this.#requested, ...transferred, ...event }).catch(() => undefined)
  }
}
