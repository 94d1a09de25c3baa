import { type Deferred, deferred } from '../../common/async/deferred.js'
import type { Fence, HostMessage, RunnerMessage } from '../protocol/messages.js'

export interface SnapshotLimits {
  /** Maximum size of the state before compression. The size of the sent data is limited accordingly. */
  readonly bytes: number
  /** Maximum time of the sandbox for the snapshot. */
  readonly seconds: number
}

/** A part of a file in the sandbox. */
export interface FilePart {
  readonly path: string
  readonly offset: number
  readonly bytes: number
}

/** The sandbox's state, or a part of a file, as Base64; or the reason why there is none, for people. */
export type Snapshot =
  | { readonly type: 'snapshot'; readonly pieces: readonly string[] }
  | { readonly type: 'no_snapshot'; readonly reason: string }

export type SnapshotResponse = Extract<RunnerMessage, { type: 'snapshot' | 'no_snapshot' }>

type SnapshotRequest = Extract<HostMessage, { type: 'snapshot' | 'read_file' }>

/** Base64 takes four characters for three bytes, and compression may add a little to data without a pattern. */
const charactersPerByte = 1.4

/** Milliseconds beyond the sandbox's own time limit. */
const graceMs = 3_000

/** Seconds for each piece of a file. */
const readSeconds = 30

/** Offset added to the attempt, so that the fence of a snapshot is above the fences of all attempts of its step. */
const snapshotAttemptOffset = 1_000_000

/** Collects the pieces of one snapshot, or of one part of a file, from a sandbox that may send anything. */
export class SnapshotReceiver {
  readonly request: SnapshotRequest
  /** Milliseconds that the sandbox may take for each piece. */
  readonly timeoutMs: number
  /** The driver resolves it and never rejects it. */
  readonly result: Deferred<Snapshot> = deferred()
  readonly #pieces: string[] = []
  #characters = 0

  constructor([epoch, step, attempt]: Fence, requested: SnapshotLimits | FilePart) {
    const identity = { fence: [epoch, step, snapshotAttemptOffset + attempt], step } as const
    const isFile = 'path' in requested
    this.request = isFile
      ? { type: 'read_file', ...identity, ...requested }
      : { type: 'snapshot', ...identity, ...requested }
    this.timeoutMs = (isFile ? readSeconds : requested.seconds) * 1_000 + graceMs
  }

  get fence(): Fence {
    return this.request.fence
  }

  /** Adds a piece. Returns the end of the snapshot, or undefined when more pieces follow. */
  receive(message: SnapshotResponse): Snapshot | undefined {
    if (message.type === 'no_snapshot') return noSnapshot(message.reason)
    if (message.piece !== this.#pieces.length) return noSnapshot('snapshot pieces out of order')
    this.#characters += message.text.length
    if (this.#characters > this.request.bytes * charactersPerByte + 4_096)
      return noSnapshot('the snapshot exceeds its size limit')
    this.#pieces.push(message.text)
    return message.last ? { type: 'snapshot', pieces: this.#pieces } : undefined
  }
}

export function noSnapshot(reason: string): Snapshot {
  return { type: 'no_snapshot', reason }
}
