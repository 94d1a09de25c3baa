import type { BackendName } from '../common/plan.js'
import type { Limits } from '../common/limits.js'

/** One way to run sandboxes. Everything above it (protocol, steps, deadlines) is the same for all backends. */
export interface SandboxBackend {
  readonly name: BackendName
  /**
   * Makes the sandbox of this id and epoch, with a runner in it, and connects to it. Idempotent: an existing one with the
   * same id and epoch is connected to, not made twice.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING
   */
  open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection>
  /**
   * Connects to a living sandbox that another process may have made, waking a parked one; undefined when there is none. Of one that
   * ended while nobody was connected it may still be known how: then that is all its connection says, until it is removed.
   */
  attach(id: SandboxId, signal: AbortSignal): Promise<SandboxConnection | undefined>
  /** Absent when this kind of sandbox can't be kept without running. */
  readonly parking?: SandboxParking
  /** Ends the sandbox, parked or not, and removes every trace; a sandbox that is not there is fine. */
  remove(id: SandboxId): Promise<void>
  /** Is this backend usable here, and what should its user know? Never throws. */
  check(): Promise<BackendCheck>
  /** Ends what belongs to this process (not sandboxes that can outlive it). Idempotent. */
  close(): Promise<void>
}

/** The ability to keep a sandbox that only waits, as it is, without memory and processes. */
export interface SandboxParking {
  /** Is it to be had on this host? Looked up once. @throws PtcError SANDBOX_UNAVAILABLE */
  isAvailable(): Promise<boolean>
  /**
   * Puts a sandbox to rest, in which nothing may be under way and to which nobody may be connected. Whoever opens or attaches next finds
   * it as it was, or finds none when what was kept is gone or broken. False when it could not be done; then the sandbox is of no use any more.
   * Idempotent.
   */
  park(id: SandboxId, signal: AbortSignal): Promise<boolean>
}

export interface SandboxId {
  /** The Temporal namespace, in a form that is unique over servers: sandboxes of two never meet. */
  readonly namespace: string
  readonly session: string
  readonly epoch: number
}

export interface SandboxSpec extends SandboxId {
  readonly workflowId: string
  readonly runId: string
  readonly limits: Limits
}

/** A byte stream to and from the runner's protocol descriptors. */
export interface SandboxConnection {
  /** For people: container name, image, interpreter. */
  readonly description: string
  /** Hands bytes to the runner; settles when there is room for more, rejects when the connection is over. */
  send(bytes: Uint8Array): Promise<void>
  /** What the runner says, in order; ends when the connection does. To be iterated once. */
  readonly received: AsyncIterable<Uint8Array>
  /** Settles once, when the sandbox ended or the connection to it broke; never rejects. */
  readonly ended: Promise<SandboxEnd>
  /** Interrupts running code if the backend can (SIGINT); false when it can't. */
  interrupt(): Promise<boolean>
  /** Kills the sandbox; `ended` settles. Idempotent. */
  kill(): Promise<void>
  /** Lets go of the sandbox without ending it (where it can outlive us). Idempotent. */
  detach(): Promise<void>
}

export interface SandboxEnd {
  readonly reason: 'exited' | 'out_of_memory' | 'disconnected'
  readonly exitCode: number | null
  /** The tail of what the sandbox wrote outside the protocol (a crash message), hostile text. */
  readonly diagnostics: string
}

export interface BackendCheck {
  readonly usable: boolean
  /** Version and the like, one line. */
  readonly summary: string
  readonly problems: readonly BackendProblem[]
}

export interface BackendProblem {
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** What to do, as a sentence. */
  readonly remedy: string
}
