import { type Deferred, deferred } from './deferred.js'
import { Deadline } from './deadline.js'
import type { Fence, RunnerMessage } from './protocol/messages.js'

/** What a snapshot may take. */
export interface SnapshotLimits {
  /** Before compression; what arrives is held to it too. */
  readonly bytes: number
  /** Of the sandbox's time. */
  readonly seconds: number
}

/** The sandbox's state as Base64, or why there is none, for people. */
export type Snapshot =
  | { readonly type: 'snapshot'; readonly pieces: readonly string[] }
  | { readonly type: 'no_snapshot'; readonly reason: string }

export type SnapshotMessage = Extract<RunnerMessage, { type: 'snapshot' | 'no_snapshot' }>

/** Base64 takes four characters for three bytes, and compression may add a little to what has no pattern. */
const charactersPerByte = 1.4

/** Collects one snapshot from a sandbox that may send anything, or nothing. */
export class SnapshotReceiver {
  readonly fence: Fence
  readonly #limits: SnapshotLimits
  readonly #done: Deferred<Snapshot> = deferred()
  readonly #deadline: Deadline
  readonly #patienceMs: number
  readonly #pieces: string[] = []
  #characters = 0

  /** @param onSilence the sandbox does not answer, or no longer */
  constructor(fence: Fence, limits: SnapshotLimits, patienceMs: number, onSilence: () => void) {
    this.fence = fence
    this.#limits = limits
    this.#patienceMs = patienceMs
    this.#deadline = new Deadline(onSilence)
    this.#deadline.start(patienceMs)
  }

  get settled(): Promise<Snapshot> {
    return this.#done.promise
  }

  add(message: SnapshotMessage): void {
    if (message.type === 'no_snapshot') return this.refuse(message.reason)
    if (message.piece !== this.#pieces.length) return this.refuse('its parts came in disorder')
    this.#characters += message.text.length
    if (this.#characters > this.#limits.bytes * charactersPerByte + 4_096) return this.refuse('it is too large')
    this.#pieces.push(message.text)
    if (message.last) this.#settle({ type: 'snapshot', pieces: this.#pieces })
    else this.#deadline.start(this.#patienceMs)
  }

  /** There will be none; nothing happens when there is one already. */
  refuse(reason: string): void {
    this.#settle({ type: 'no_snapshot', reason })
  }

  #settle(snapshot: Snapshot): void {
    this.#deadline.stop()
    this.#done.resolve(snapshot)
  }
}
