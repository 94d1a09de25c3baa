import { Memo } from '../../../common/async/memo.js'
import { failpoint } from '../../../common/failpoint.js'
import { PtcError } from '../../../common/errors.js'
import type { SandboxSpec } from '../../backend.js'
import type { SandboxFiles } from '../../sandbox-files.js'
import { putFiles } from './container-files.js'
import type { ConnectableState } from './container-state.js'
import { openAttachStream } from '../connection/attach-stream.js'
import { deleteCheckpoint, startFromCheckpoint } from './checkpoint.js'
import { DockerConnection } from '../connection/docker-connection.js'
import { containerCreateOptions, type ContainerCreateOptions } from './container-create-options.js'
import { type DaemonCapabilities, probeDaemon } from '../engine/daemon-capabilities.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { statusOf } from '../engine/docker-error.js'
import { userId } from './sandbox-identity.js'
import type { DockerBackendSettings } from '../options.js'
import type { SandboxImages } from '../image/sandbox-images.js'

interface ContainerFactoryOptions extends Pick<
  DockerBackendSettings,
  'runtime' | 'orphanSeconds' | 'stoppedOrphanSeconds' | 'sendTimeoutMs'
> {
  readonly engine: DockerEngine
  readonly images: SandboxImages
  /** The seccomp profile as JSON text. */
  readonly seccomp: string
}

const startByState = {
  created: (engine, container, signal) => engine.start(container, signal),
  parked: startFromCheckpoint,
  // A checkpoint of a running container was left by an interrupted park or resume.
  running: deleteCheckpoint,
} satisfies Record<ConnectableState, (engine: DockerEngine, container: string, signal?: AbortSignal) => Promise<void>>

/** Creates, starts and connects to the containers of sessions and of the warm pool. */
export class ContainerFactory {
  readonly #options: ContainerFactoryOptions
  readonly #capabilities: Memo<DaemonCapabilities>

  constructor(options: ContainerFactoryOptions) {
    this.#options = options
    this.#capabilities = new Memo(() => probeDaemon(options.engine, options.runtime))
  }

  /** @throws PtcError SANDBOX_UNENFORCED, SANDBOX_UNAVAILABLE */
  capabilities(): Promise<DaemonCapabilities> {
    return this.#capabilities.get()
  }

  /** The body of the create request. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED */
  async createOptions(
    spec: Omit<SandboxSpec, 'workflowId' | 'runId'>,
    labels: Readonly<Record<string, string>>,
  ): Promise<ContainerCreateOptions> {
    const { language, limits, network: hasNetwork = false } = spec
    const hasFiles = spec.files !== undefined
    const { userNamespace } = await this.#capabilities.get()
    const image = await this.#options.images.resolve(spec)
    const owner = userId(spec, userNamespace)
    return containerCreateOptions({
      ...this.#options,
      image,
      userId: owner,
      labels,
      language,
      limits,
      hasFiles,
      hasNetwork,
    })
  }

  /**
   * Creates a container and returns its id; undefined when another container has the name.
   *
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE
   */
  async create(name: string, body: ContainerCreateOptions, signal?: AbortSignal): Promise<string | undefined> {
    const { engine, images } = this.#options
    try {
      const created = await engine.call(
        { action: `create container ${name}`, signal, ignoredStatuses: [409] },
        (docker, abortSignal) => docker.createContainer({ name, ...body, abortSignal }),
      )
      failpoint('container.created')
      return created?.id
    } catch (error) {
      if (!(PtcError.isInstance(error) && statusOf(error) === 404)) throw error
      // The image was removed after it was resolved.
      images.invalidate()
      throw new PtcError('SANDBOX_IMAGE_MISSING', error.message, {
        hint: 'Build the image again: `ptc image build`.',
        cause: error,
      })
    }
  }

  /**
   * Attaches before it starts the container, so that no byte of the runner is missed.
   *
   * @param image the id of its image
   * @param files what a container gets before it starts for the first time
   * @throws BrokenCheckpointError; PtcError SANDBOX_UNAVAILABLE
   */
  async connect(
    container: string,
    state: ConnectableState,
    image: string,
    signal?: AbortSignal,
    files?: SandboxFiles,
  ): Promise<DockerConnection> {
    const { engine, sendTimeoutMs } = this.#options
    if (state === 'created' && files) await putFiles(engine, container, files, signal)
    const socket = await openAttachStream(engine, container, signal)
    try {
      await startByState[state](engine, container, signal)
    } catch (error) {
      socket.destroy()
      throw error
    }
    failpoint('container.started')
    return new DockerConnection({ engine, container, image, socket, sendTimeoutMs })
  }
}
