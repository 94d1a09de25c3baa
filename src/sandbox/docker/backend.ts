import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PtcError } from '../../common/errors.js'
import type { SandboxBackend, SandboxConnection, SandboxId, SandboxSpec } from '../backend.js'
import { findContainer, findOrCreate } from './adopt.js'
import { attach } from './attach.js'
import { buildImage, type BuildImageOptions } from './build-image.js'
import { checkDaemon } from './check.js'
import { DockerConnection } from './connection.js'
import { containerBody } from './container-body.js'
import { readInfo, usesUserNamespace } from './daemon-facts.js'
import { withDeadline } from './deadline.js'
import { DockerEngine } from './engine.js'
import { dockerError, statusOf } from './errors.js'
import { containerLabels, containerName, userId } from './identity.js'
import { readImageSource } from './image-source.js'
import { inspectImage, resolveImage } from './image.js'
import { listSandboxes, removeExpired, type ListedSandbox, type ReapOptions } from './leftovers.js'
import { Memo } from './memo.js'
import { parseOptions, type DockerBackendOptions } from './options.js'

export interface DockerBackend extends SandboxBackend {
  readonly name: 'docker'
  /** The image that sandboxes are made of. */
  readonly image: string
  /**
   * Makes sure that the image is there, and builds it when it is the project's own and is not.
   *
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE
   */
  ensureImage(options?: BuildImageOptions): Promise<{ readonly image: string; readonly built: boolean }>
  /** The sandboxes on this daemon, of one namespace or of all. */
  listSandboxes(namespace?: string): Promise<readonly ListedSandbox[]>
  /** Removes sandboxes whose time is over, and says which. */
  removeExpired(options: ReapOptions): Promise<readonly ListedSandbox[]>
}

/**
 * Sandboxes as hardened containers of a Docker daemon. They outlive this process: whoever comes next attaches again.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function createDockerBackend(options: DockerBackendOptions = {}): DockerBackend {
  const settings = parseOptions(options)
  const engine = new DockerEngine(settings.callMs)
  const source = readImageSource(settings.runnerDirectory)
  const seccomp = JSON.stringify(JSON.parse(readFileSync(join(settings.runnerDirectory, 'image/seccomp.json'), 'utf8')))
  const image = settings.image ?? source.tag
  const connections = new Set<DockerConnection>()
  // The tag is resolved once: were it moved later, this worker's sandboxes would still all be of one image.
  const imageId = new Memo(() => resolveImage(engine, source, image))
  const userNamespace = new Memo(async () => usesUserNamespace(await readInfo(engine)))
  let closed = false

  async function create(spec: SandboxSpec, signal: AbortSignal): Promise<string | undefined> {
    const body = containerBody({
      image: await imageId.get(),
      userId: userId(spec, await userNamespace.get()),
      labels: containerLabels(spec, Math.floor(Date.now() / 1_000) + settings.lifetimeSeconds),
      limits: spec.limits,
      seccomp,
      runtime: settings.runtime,
    })
    const name = containerName(spec)
    try {
      const created = await engine.call(
        { doing: `create container ${name}`, signal, fine: [409] },
        (docker, abortSignal) => docker.createContainer({ name, ...body, abortSignal }),
      )
      return created?.id
    } catch (error) {
      if (!(PtcError.isInstance(error) && statusOf(error.cause) === 404)) throw error
      // The image went away after it was found: look again next time.
      imageId.forget()
      throw new PtcError('SANDBOX_IMAGE_MISSING', error.message, {
        hint: `Make the image ${image} again.`,
        cause: error,
      })
    }
  }

  /** Attaches first and starts then: what the runner says at once is not missed. */
  async function connect(
    id: SandboxId,
    container: string,
    start: boolean,
    signal: AbortSignal,
  ): Promise<DockerConnection> {
    const socket = await attach(engine, container, signal)
    try {
      if (start) await startContainer(container, signal)
    } catch (error) {
      socket.destroy()
      throw error
    }
    const description = `docker container ${containerName(id)}, image ${image}`
    const connection = new DockerConnection({ engine, container, socket, description, sendMs: settings.sendMs })
    connections.add(connection)
    void connection.ended.then(() => connections.delete(connection))
    return connection
  }

  async function startContainer(container: string, signal: AbortSignal): Promise<void> {
    // 304: somebody else was faster.
    await engine.call({ doing: `start container ${container}`, signal, fine: [304] }, (docker, abortSignal) =>
      docker.getContainer(container).start({ abortSignal }),
    )
  }

  async function open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    const { container, state } = await findOrCreate(engine, spec, () => create(spec, signal), signal)
    try {
      return await connect(spec, container, state === 'created', signal)
    } catch (error) {
      // Never started, so nothing is lost; a container that nobody knows of would only wait for its expiry.
      if (state === 'created') await engine.remove(container).catch(() => {})
      throw error
    }
  }

  function assertOpen(): void {
    if (closed) throw new PtcError('SANDBOX_UNAVAILABLE', 'the Docker sandbox backend of this worker is closed')
  }

  return {
    name: 'docker',
    image,

    async open(spec, signal) {
      assertOpen()
      return withDeadline(settings.openMs, signal, (within) => open(spec, within)).catch((error: unknown) => {
        if (signal.aborted) throw error
        throw dockerError(error, `open sandbox ${spec.session}`)
      })
    },

    async attach(id, signal): Promise<SandboxConnection | undefined> {
      assertOpen()
      const found = await findContainer(engine, id, signal)
      if (found === undefined || found.state === 'foreign') return undefined
      if (found.state !== 'ended') return connect(id, found.container, found.state === 'created', signal)
      await engine.remove(found.container)
      return undefined
    },

    async remove(id) {
      const found = await findContainer(engine, id)
      if (found !== undefined && found.state !== 'foreign') await engine.remove(found.container)
    },

    check() {
      const look = (signal: AbortSignal) => inspectImage(engine, source, image, signal)
      return checkDaemon({ engine, deadlineMs: settings.checkMs, runtime: settings.runtime, image, inspectImage: look })
    },

    async close() {
      closed = true
      await Promise.all([...connections].map((connection) => connection.detach()))
    },

    async ensureImage(build = {}) {
      const { problem, remedy } = await inspectImage(engine, source, image, build.signal)
      if (problem === undefined) return { image, built: false }
      if (image !== source.tag) throw new PtcError('SANDBOX_IMAGE_MISSING', problem, { hint: remedy })
      await buildImage(engine, source, image, build)
      await resolveImage(engine, source, image, build.signal)
      imageId.forget()
      return { image, built: true }
    },

    listSandboxes: (namespace) => listSandboxes(engine, namespace),
    removeExpired: (reap) => removeExpired(engine, reap),
  }
}
