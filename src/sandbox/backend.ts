/**
 * Owns: the contract between the engine and a sandbox backend.
 *
 * Boundary: a backend creates sandboxes and carries bytes. It does not know messages, steps and time limits, which are
 * the same for all backends (protocol/, session/).
 *
 * Invariants: 1. There is at most one sandbox per namespace, session and epoch. 2. A new connection replaces the
 * connection before it. 3. `remove` leaves no trace. 4. Everything that is received is untrusted. 5. `check` never
 * rejects.
 */
import type { ErrorCode } from '../common/errors.js'
import type { BackendName } from '../common/run/run-config.js'
import type { Limits } from '../common/run/limits.js'
import type { ImageChoice, SandboxContents } from '../common/run/sandbox-image.js'
import type { SandboxFiles } from './sandbox-files.js'

/** One way to run sandboxes. */
export interface SandboxBackend {
  readonly name: BackendName
  /**
   * The place of the sandboxes, in place of the worker's host, where several hosts reach them: any worker with this
   * backend and an equal place may attach to them. Undefined: only workers of this host reach them.
   */
  readonly hostId?: string
  /**
   * Creates the sandbox of this id and epoch, starts a runner in it and connects to it. Idempotent: connects to an
   * existing sandbox of the same id and epoch.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING
   */
  open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection>
  /**
   * Connects to an existing sandbox, which another process may have created, and restores a checkpointed one; undefined
   * when there is none. For a sandbox that ended while detached, may return a connection with an already settled
   * `ended`.
   */
  attach(id: SandboxId, signal: AbortSignal): Promise<SandboxConnection | undefined>
  /** True when `open` puts {@link SandboxSpec.files} into the sandbox. Undefined: sandboxes can't have files. */
  readonly files?: true
  /**
   * Returns what programs find in a sandbox, for the prompt of a run. Undefined: the backend does not know it.
   *
   * @param spec `image`: undefined for the configured one
   * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING
   */
  readonly contentsOf?: (spec: ContentsSpec, signal: AbortSignal) => Promise<SandboxContents>
  /** True when code reaches a network by the connections of its runner, with {@link SandboxSpec.network}. */
  readonly network?: true
  /** Undefined when this backend does not support checkpoints. */
  readonly checkpoints?: SandboxCheckpoints
  /** Ends the sandbox or deletes its checkpoint, and removes every trace. Succeeds when there is none. */
  remove(id: SandboxId): Promise<void>
  /** Reports whether this backend is usable on this machine, and its problems. Never rejects. */
  check(): Promise<BackendCheck>
  /** Releases the resources of this process; sandboxes that can outlive it keep running. Idempotent. */
  close(): Promise<void>
}

/** Stores an idle sandbox without memory and processes. */
export interface SandboxCheckpoints {
  /** Whether this host supports checkpoints; determined once. @throws PtcError SANDBOX_UNAVAILABLE */
  isAvailable(): Promise<boolean>
  /**
   * Checkpoints an idle, detached sandbox and stops it. The next `open` or `attach` restores it; `attach` returns
   * undefined when the checkpoint is missing or broken. Returns false when the checkpoint failed; the sandbox is then
   * unusable. Idempotent.
   */
  checkpoint(id: SandboxId, signal: AbortSignal): Promise<boolean>
}

export interface SandboxId {
  /** The Temporal namespace, in a form that is unique across servers. */
  readonly namespace: string
  readonly session: string
  readonly epoch: number
}

export interface SandboxSpec extends SandboxId {
  readonly workflowId: string
  readonly runId: string
  /** Name of the language of the programs. A backend without a runner for it rejects `open`. */
  readonly language: string
  readonly limits: Limits
  /**
   * Files that code can read in `/skills` and can't change. The same for each `open` of this id and epoch. Only for a
   * backend with the capability. Undefined: there are none.
   */
  readonly files?: SandboxFiles
  /**
   * The runner carries connections of programs to the worker, as messages of the step protocol. The sandbox itself has
   * no way to a network, with or without it. Only for a backend with the capability. Undefined: it does not.
   */
  readonly network?: true
  /** Undefined: as the backend is configured. Only for a backend with images. */
  readonly image?: SandboxImageSpec
}

/** Which sandbox is asked what it has. */
export interface ContentsSpec extends Pick<SandboxSpec, 'language'> {
  readonly image?: ImageChoice | undefined
}

export interface SandboxImageSpec {
  /** Undefined: as the backend is configured. */
  readonly choice?: ImageChoice
  /** {@link SandboxConnection.image} of an earlier sandbox of the session, which is preferred. */
  readonly pinned?: string
}

/** A connection to a runner: a byte stream in each direction. */
export interface SandboxConnection {
  /** A description for people: container name, image, interpreter. */
  readonly description: string
  /** The immutable id of the image of the sandbox. Undefined: the backend has no images, or the sandbox has exited. */
  readonly image?: string
  /**
   * Sends bytes to the runner, after those of earlier calls, which may be pending; resolves when there is room for more,
   * rejects when the connection has ended.
   */
  send(bytes: Uint8Array): Promise<void>
  /** The bytes from the runner, in order; ends with the connection. May be iterated once. */
  readonly received: AsyncIterable<Uint8Array>
  /** Settles once, when the sandbox ended or the connection to it broke; never rejects. */
  readonly ended: Promise<SandboxEnd>
  /** Interrupts running code (SIGINT); false when this backend can't. */
  interrupt(): Promise<boolean>
  /** Kills the sandbox; `ended` settles. Idempotent. */
  kill(): Promise<void>
  /** Closes the connection without ending the sandbox, if it can outlive this process. Idempotent. */
  detach(): Promise<void>
}

export interface SandboxEnd {
  /** `replaced`: another worker has connected, and only its connection counts. */
  readonly reason: 'exited' | 'out_of_memory' | 'disconnected' | 'replaced'
  readonly exitCode: number | null
  /** The tail of the output outside the protocol (a crash message); untrusted text. */
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
  /** `image`: the image of the sandboxes is missing or unusable. */
  readonly kind?: 'image'
  /** The code of the error of a worker that can't start because of it. Default: SANDBOX_UNAVAILABLE. */
  readonly code?: ErrorCode
  readonly message: string
  /** Instructions for the user, as a sentence. */
  readonly remedy: string
}

export function isSameSandbox(one: SandboxId, other: SandboxId): boolean {
  return one.namespace === other.namespace && one.session === other.session && one.epoch === other.epoch
}
