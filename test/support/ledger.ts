import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** An effect in a record outside of the project. */
export interface LedgerEntry {
  readonly key: string
  readonly name: string
  /** Completion token, of a deferred call. */
  readonly token?: string
}

/**
 * An HTTP server that records effects and deduplicates them by idempotency key. It can hold its reply after an effect,
 * which is the worst moment to lose a worker.
 */
export class Ledger {
  /** Applied effects, in order. */
  readonly applied: LedgerEntry[] = []
  /** All requests, including those whose effect was applied before. */
  readonly requests: LedgerEntry[] = []
  readonly #held = new Map<string, (() => void)[]>()
  readonly #dropped = new Map<string, number>()
  readonly #watchers = new Set<() => void>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #url = ''

  /** Starts a ledger that ends with the test. */
  static async start(): Promise<Ledger> {
    const ledger = new Ledger()
    onTestFinished(() => ledger.#close())
    ledger.#server.listen(0, '127.0.0.1')
    await once(ledger.#server, 'listening')
    ledger.#url = `http://127.0.0.1:${(ledger.#server.address() as AddressInfo).port}`
    return ledger
  }

  get url(): string {
    return this.#url
  }

  /** Holds the replies to later requests with this name; their effects are applied. */
  holdReplies(name: string): void {
    this.#held.set(name, [])
  }

  releaseReplies(name: string): void {
    const waiting = this.#held.get(name) ?? []
    this.#held.delete(name)
    for (const reply of waiting) reply()
  }

  /** Drops the next replies for this name; their effects are applied. */
  dropReplies(name: string, count: number): void {
    this.#dropped.set(name, count)
  }

  /** Settles when there are this many requests with this name. */
  async waitForRequests(name: string, times = 1): Promise<void> {
    while (this.requests.filter((entry) => entry.name === name).length < times) await this.nextRequest()
  }

  /** Settles at the next request. */
  nextRequest(): Promise<void> {
    return new Promise<void>((resolve) => this.#watchers.add(resolve))
  }

  /** Names of the applied effects, sorted. */
  get appliedNames(): string[] {
    return this.applied.map(({ name }) => name).sort()
  }

  async #close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = JSON.parse(await text(request)) as LedgerEntry
    this.requests.push(entry)
    if (!this.applied.some(({ key }) => key === entry.key)) this.applied.push(entry)
    for (const watcher of this.#watchers) watcher()
    this.#watchers.clear()
    const drops = this.#dropped.get(entry.name) ?? 0
    if (drops > 0) {
      this.#dropped.set(entry.name, drops - 1)
      response.destroy()
      return
    }
    const reply = (): void => void response.end(JSON.stringify({ done: entry.name }))
    const held = this.#held.get(entry.name)
    if (held) held.push(reply)
    else reply()
  }
}
