import type { Limits } from '../../common/limits.js'
import type { SessionRef } from '../../common/steps.js'
import type { SandboxBackend } from '../backend.js'
import { Notebook } from './notebook.js'

/** What a backend claims of itself; each claim adds cases. */
export interface Claims {
  /** Sandboxes outlive the process that made them: a second backend finds them again. */
  readonly survivesItsMaker: boolean
  /** Code over its time can be interrupted, so that its session is kept. */
  readonly stopsCode: boolean
  /** Code may start threads and processes. */
  readonly hasProcesses: boolean
  /** Hostile code is held back: it reaches no file, no network and no memory but its own. */
  readonly isBoundary: boolean
  /** A parked sandbox is kept as it was: see `SandboxBackend.parking`. */
  readonly keepsParked?: boolean
}

/** One case, before it is bound to a backend. */
export interface CaseDefinition {
  readonly name: string
  /** Only for backends that claim this. */
  readonly needs?: keyof Claims
  readonly run: (scene: Scene) => Promise<void>
}

/** What a case plays with: a backend, a notebook that the cases share, and notebooks of its own. */
export class Scene {
  readonly backend: SandboxBackend
  readonly stopsCode: boolean
  readonly #makeBackend: () => SandboxBackend
  readonly #own: Notebook[] = []
  readonly #backends: SandboxBackend[] = []
  #shared: Promise<Notebook> | undefined

  constructor(makeBackend: () => SandboxBackend, stopsCode: boolean) {
    this.#makeBackend = makeBackend
    this.backend = makeBackend()
    this.stopsCode = stopsCode
  }

  /** The notebook that cases share: opening one takes time, and one case more or less must make no difference to it. */
  notebook(): Promise<Notebook> {
    this.#shared ??= this.#open()
    return this.#shared
  }

  /** An open notebook for this case alone. */
  async fresh(limits: Partial<Limits> = {}, session?: SessionRef): Promise<Notebook> {
    return this.keep(await this.#open(limits, session))
  }

  /** Closes a notebook when the case is over. */
  keep(notebook: Notebook): Notebook {
    this.#own.push(notebook)
    return notebook
  }

  /** The backend as another worker would have it. */
  another(): SandboxBackend {
    const backend = this.#makeBackend()
    this.#backends.push(backend)
    return backend
  }

  /** After each case. A failed one may have left the shared notebook in the middle of something. */
  async tidy(failed: boolean): Promise<void> {
    const shared = failed ? this.#shared : undefined
    if (failed) this.#shared = undefined
    await Promise.all(this.#own.splice(0).map((notebook) => notebook.close()))
    await Promise.all(this.#backends.splice(0).map((backend) => backend.close()))
    await shared?.then((notebook) => notebook.close()).catch(() => undefined)
  }

  /** Removes every sandbox and closes the backend. Idempotent. */
  async close(): Promise<void> {
    await this.tidy(true)
    await this.backend.close()
  }

  #open(limits?: Partial<Limits>, session?: SessionRef): Promise<Notebook> {
    return new Notebook(this.backend, limits, session).open()
  }
}
