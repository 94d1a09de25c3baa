import type { Fence, HostMessage, RunnerMessage } from './protocol/messages.js'
import { isSameFence } from './protocol/messages.js'
import { type Snapshot, type SnapshotLimits, SnapshotReceiver } from './snapshot-receiver.js'

/** What the driver of a sandbox lends to it. */
export interface SnapshotLink {
  /** Sends a frame, behind the greeting. */
  send(message: HostMessage & { readonly fence: Fence }): Promise<void>
  /** Interrupts what runs, and gives it a moment to come to this end. */
  interruptFor(end: Promise<unknown>): Promise<void>
  /** The sandbox does not answer. */
  lose(reason: string): void
}

/** Milliseconds beyond the sandbox's own time. */
const graceMs = 3_000

/** A snapshot of a step comes after every attempt to take that step. */
const afterAttempts = 1_000_000

/** Asks a sandbox for snapshots, one at a time, and hears the answers. */
export class SnapshotExchange {
  readonly #link: SnapshotLink
  #current: SnapshotReceiver | undefined

  constructor(link: SnapshotLink) {
    this.#link = link
  }

  get isUnderWay(): boolean {
    return this.#current !== undefined
  }

  /** Never rejects. Asked for again while one is under way, the newer takes over. */
  async take([epoch, step, attempt]: Fence, limits: SnapshotLimits, signal: AbortSignal): Promise<Snapshot> {
    const fence: Fence = [epoch, step, afterAttempts + attempt]
    const patienceMs = limits.seconds * 1_000 + graceMs
    const receiver: SnapshotReceiver = new SnapshotReceiver(fence, limits, patienceMs, () => void this.#stop(receiver))
    this.#current?.refuse('it was asked for again')
    this.#current = receiver
    const cancel = (): void => receiver.refuse('it is no longer wanted')
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    try {
      await this.#link.send({ type: 'snapshot', fence, step, ...limits })
      return await receiver.settled
    } finally {
      signal.removeEventListener('abort', cancel)
      if (this.#current === receiver) this.#current = undefined
    }
  }

  hear(message: RunnerMessage): void {
    const current = this.#current
    if (!current) return
    switch (message.type) {
      case 'snapshot':
      case 'no_snapshot':
        if (isSameFence(current.fence, message.fence)) current.add(message)
        return
      case 'refused':
        if (isSameFence(current.fence, message.fence)) current.refuse(message.reason)
        return
      case 'suspended':
      case 'completed':
      case 'failed':
      case 'restored':
        // A runner that knows no snapshots repeats its answer to the step.
        current.refuse('this sandbox can not make one')
        return
      case 'ready':
      case 'output':
      case 'interrupted':
    }
  }

  /** The sandbox is gone. */
  end(reason: string): void {
    this.#current?.refuse(reason)
  }

  async #stop(receiver: SnapshotReceiver): Promise<void> {
    let isSettled = false
    void receiver.settled.then(() => (isSettled = true))
    await this.#link.interruptFor(receiver.settled)
    if (!isSettled) this.#link.lose('the sandbox did not come to the end of its snapshot')
  }
}
