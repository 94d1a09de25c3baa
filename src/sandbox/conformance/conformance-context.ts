import type { Limits } from '../../common/run/limits.js'
import type { SessionRef } from '../../common/session/session.js'
import type { SandboxBackend } from '../backend.js'
import type { SandboxFiles } from '../sandbox-files.js'
import { SessionHarness } from './session-harness.js'

/** A variable in the environment of the worker while the suite runs. */
export const plantedSecret = { name: 'PTC_CONFORMANCE_SECRET', value: 'planted-5f1c' } as const

/** Capabilities that a backend declares; each adds cases. */
export interface BackendCapabilities {
  /** Sandboxes outlive the process that created them, and a second backend can attach to them. */
  readonly supportsReattach: boolean
  /** Code over its time limit can be interrupted without ending its session. */
  readonly supportsInterrupt: boolean
  /** Code may start threads and processes. */
  readonly supportsProcesses: boolean
  /** Hostile code has no access to files, networks and memory outside of its sandbox. */
  readonly providesIsolation: boolean
  /** An idle sandbox can be checkpointed: see `SandboxBackend.checkpoints`. */
  readonly supportsCheckpoint?: boolean
  /** Sandboxes can have read-only files: see `SandboxBackend.files`. */
  readonly supportsFiles?: boolean
  /** A run can have uploads and artifacts: the language of a sandbox may end in `,files`. */
  readonly supportsRunFiles?: boolean
  /** Code can have a network: see `SandboxBackend.network`. */
  readonly supportsNetwork?: boolean
  /** It is known what programs find in a sandbox: see `SandboxBackend.contentsOf`. */
  readonly supportsContents?: boolean
}

/** One case, without a backend. */
export interface CaseDefinition {
  readonly name: string
  /** The capabilities that the case requires. */
  readonly requires?: keyof BackendCapabilities | readonly (keyof BackendCapabilities)[]
  readonly run: (context: ConformanceContext) => Promise<void>
}

/** The environment of a case: a backend, a session that the cases share, and sessions of the case. */
export class ConformanceContext {
  readonly backend: SandboxBackend
  readonly capabilities: BackendCapabilities
  readonly language: string
  readonly #makeBackend: () => SandboxBackend
  readonly #harnesses: SessionHarness[] = []
  readonly #backends: SandboxBackend[] = []
  #sharedHarness: Promise<SessionHarness> | undefined

  constructor(makeBackend: () => SandboxBackend, language: string, capabilities: BackendCapabilities) {
    this.language = language
    this.#makeBackend = makeBackend
    this.backend = makeBackend()
    this.capabilities = capabilities
  }

  /** The harness of the shared session. Opening a session takes time, and cases must not affect each other. */
  harness(): Promise<SessionHarness> {
    this.#sharedHarness ??= this.createHarness().open()
    return this.#sharedHarness
  }

  /** Returns a harness without a sandbox: `open` it, or let it attach to that of the session. */
  createHarness(backend = this.backend, session?: SessionRef, limits: Partial<Limits> = {}): SessionHarness {
    return new SessionHarness(backend, limits, session, this.language)
  }

  /** Opens a session for this case only. */
  async newHarness(limits: Partial<Limits> = {}, session?: SessionRef, files?: SandboxFiles): Promise<SessionHarness> {
    const harness = this.createHarness(this.backend, session, limits)
    harness.files = files
    return this.closeAfterCase(await harness.open())
  }

  /** Closes the harness at the end of the case. */
  closeAfterCase(harness: SessionHarness): SessionHarness {
    this.#harnesses.push(harness)
    return harness
  }

  /** Creates a second backend, like another worker. */
  newBackend(): SandboxBackend {
    const backend = this.#makeBackend()
    this.#backends.push(backend)
    return backend
  }

  /** Runs after each case. After a failed case, the next one gets a new shared session. */
  async cleanUp(failed: boolean): Promise<void> {
    const sharedHarness = failed ? this.#sharedHarness : undefined
    if (failed) this.#sharedHarness = undefined
    await Promise.all(this.#harnesses.splice(0).map((harness) => harness.close()))
    await Promise.all(this.#backends.splice(0).map((backend) => backend.close()))
    await sharedHarness?.then((harness) => harness.close()).catch(() => undefined)
  }

  /** Removes every sandbox and closes the backend. Idempotent. */
  async close(): Promise<void> {
    await this.cleanUp(true)
    await this.backend.close()
  }
}
