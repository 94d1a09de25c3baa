import { crashPoint } from '../../common/crash-point.js'
import { PtcError } from '../../common/errors.js'
import type { Limits } from '../../common/limits.js'
import type { SandboxId } from '../backend.js'
import type { ContainerState } from './adopt.js'
import { attach } from './attach.js'
import { dropCheckpoint, restore } from './checkpoint.js'
import { DockerConnection } from './connection.js'
import { containerBody, type ContainerBody } from './container-body.js'
import { type Daemon, meetDaemon } from './daemon.js'
import type { DockerEngine } from './engine.js'
import { statusOf } from './errors.js'
import { Memo } from './memo.js'
import { forPodman } from './podman.js'
import { userId } from './user-id.js'

export interface ContainerMakerOptions {
  readonly engine: DockerEngine
  /** For people. */
  readonly image: string
  /** The id of the image, or why it can't be used. */
  readonly resolveImage: () => Promise<string>
  /** The seccomp profile, and where it is. */
  readonly seccomp: { readonly profile: string; readonly file: string }
  readonly runtime: string | undefined
  /** See {@link DockerConnection}. */
  readonly sendMs: number
}

const begin = {
  created: (engine, container, signal) => engine.start(container, signal),
  parked: restore,
  // Of an attempt to park it that was cut off, or to wake it.
  running: dropCheckpoint,
} satisfies Record<ContainerState, (engine: DockerEngine, container: string, signal?: AbortSignal) => Promise<void>>

/** Makes the containers of one image, for sessions and ahead of them: one body, one way to start. */
export class ContainerMaker {
  readonly #options: ContainerMakerOptions
  // The tag is resolved once: were it moved later, this worker's sandboxes would still all be of one image.
  readonly #imageId: Memo<string>
  readonly #daemon: Memo<Daemon>

  constructor(options: ContainerMakerOptions) {
    this.#options = options
    this.#imageId = new Memo(options.resolveImage)
    this.#daemon = new Memo(() => meetDaemon(options.engine, options.runtime))
  }

  /** @throws PtcError SANDBOX_UNENFORCED, SANDBOX_UNAVAILABLE */
  daemon(): Promise<Daemon> {
    return this.#daemon.get()
  }

  /** Looks the image up again next time. */
  forgetImage(): void {
    this.#imageId.forget()
  }

  /** The body of the create request. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED */
  async body(id: SandboxId, labels: Readonly<Record<string, string>>, limits: Limits): Promise<ContainerBody> {
    const { seccomp, runtime } = this.#options
    const { userNamespace, isPodman } = await this.#daemon.get()
    const image = await this.#imageId.get()
    const body = containerBody({
      image,
      userId: userId(id, userNamespace),
      labels,
      limits,
      seccomp: seccomp.profile,
      runtime,
    })
    return isPodman ? forPodman(body, seccomp.file) : body
  }

  /** The id of a new container; undefined when the name is taken. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
  async create(name: string, body: ContainerBody, signal?: AbortSignal): Promise<string | undefined> {
    const { engine, image } = this.#options
    try {
      const created = await engine.call(
        { doing: `create container ${name}`, signal, fine: [409] },
        (docker, abortSignal) => docker.createContainer({ name, ...body, abortSignal }),
      )
      crashPoint('container.created')
      return created?.id
    } catch (error) {
      if (!(PtcError.isInstance(error) && statusOf(error.cause) === 404)) throw error
      // The image went away after it was found.
      this.forgetImage()
      throw new PtcError('SANDBOX_IMAGE_MISSING', error.message, {
        hint: `Make the image ${image} again.`,
        cause: error,
      })
    }
  }

  /**
   * Attaches first and starts then: what the runner says at once is not missed.
   *
   * @throws BrokenCheckpointError; PtcError SANDBOX_UNAVAILABLE
   */
  async connect(container: string, state: ContainerState, signal?: AbortSignal): Promise<DockerConnection> {
    const { engine, image, sendMs } = this.#options
    const socket = await attach(engine, container, signal)
    try {
      await begin[state](engine, container, signal)
    } catch (error) {
      socket.destroy()
      throw error
    }
    crashPoint('container.started')
    const description = `docker container ${container.slice(0, 12)}, image ${image}`
    return new DockerConnection({ engine, container, socket, description, sendMs })
  }
}
