import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { ImageChoice } from '../../common/run/sandbox-image.js'
import type { SandboxBackend, SandboxConnection, SandboxSpec } from '../backend.js'
import { findContainer, findOrCreateContainer } from './container/find-container.js'
import { environmentVariable } from '../../platform/environment-variable.js'
import type { BuildImageOptions } from './image/build-image.js'
import { checkDaemon } from './check.js'
import { BrokenCheckpointError } from './container/checkpoint.js'
import type { DockerConnection } from './connection/docker-connection.js'
import { ContainerFactory } from './container/container-factory.js'
import { withTimeout } from './engine/with-timeout.js'
import { connectToExited } from './connection/exited-connection.js'
import { DockerEngine } from './engine/docker-engine.js'
import { dockerError, statusOf } from './engine/docker-error.js'
import { containerLabels, containerName } from './container/sandbox-identity.js'
import { ImageContents } from './image-contents.js'
import { readImageSource } from './image/image-source.js'
import { type ListedImage, listImages, prunableImages, removeImage } from './built-images.js'
import { SandboxImages } from './image/sandbox-images.js'
import {
  keepSandboxesAlive,
  listSandboxes,
  removeExpiredSandboxes,
  type ListedSandbox,
  type ReapOptions,
  type SessionContainer,
} from './expired-containers.js'
import { createDockerCheckpoints } from './container/checkpoints.js'
import { parseOptions, type DockerBackendOptions } from './options.js'
import { countIdleContainers, idleContainers, removeExpiredIdleContainers } from './idle-container.js'
import { WarmPool } from '../warm-pool.js'
import { type ServerProgram, startServerContainer } from './server-container.js'
import { sampleUsage, type SandboxUsage } from './usage.js'

/** Maximum time to open a sandbox, for all requests together. */
const openTimeoutMs = 60_000

export interface DockerBackend extends SandboxBackend {
  readonly name: 'docker'
  readonly contentsOf: NonNullable<SandboxBackend['contentsOf']>
  /** The name of the image of sandboxes that choose none. */
  readonly image: string
  /**
   * Checks that the daemon enforces isolation and has an image; builds one of durable-ptc when it is missing or outdated.
   * Reports limits that the daemon does not enforce, and that are not part of the isolation, as progress.
   *
   * @param options `choice`: the image. Default: as configured
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_IMAGE_BUILD_FAILED, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED
   */
  ensureImage(options?: EnsureImageOptions): Promise<{ readonly image: string; readonly built: boolean }>
  /** The name of an image. @param choice default: as configured */
  imageName(choice?: ImageChoice): string
  /** Lists the images that durable-ptc has built on this daemon, the latest first. @throws PtcError SANDBOX_UNAVAILABLE */
  listImages(): Promise<readonly ListedImage[]>
  /**
   * Removes the images of other versions of durable-ptc that no container uses, and returns them.
   *
   * @param options `dryRun`: removes none
   * @throws PtcError SANDBOX_UNAVAILABLE
   */
  pruneImages(options?: { readonly dryRun?: boolean }): Promise<readonly ListedImage[]>
  /**
   * Runs a server in a container that ends with this process.
   *
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED
   */
  startServer(program: ServerProgram, signal: AbortSignal): Promise<SandboxConnection>
  /** Lists the sandboxes on this daemon, of one namespace or of all. */
  listSandboxes(namespace?: string): Promise<readonly ListedSandbox[]>
  /** Counts the running idle containers of all workers on this daemon. @throws PtcError SANDBOX_UNAVAILABLE */
  countIdleContainers(): Promise<number>
  /**
   * Notifies the running sandboxes of a namespace that a worker lives. A sandbox without this notice for an hour ends
   * by itself: call this every 15 minutes.
   *
   * @throws the reason of the signal
   */
  keepAlive(namespace: string, signal?: AbortSignal): Promise<void>
  /** Measures the usage of at most `limit` running containers of a namespace. @throws PtcError SANDBOX_UNAVAILABLE */
  sampleUsage(namespace: string, limit: number): Promise<SandboxUsage>
  /**
   * Removes expired sandboxes, and those that ended because no worker lived, and returns them. Also removes expired
   * idle containers.
   */
  removeExpired(options: ReapOptions): Promise<readonly SessionContainer[]>
}

export interface EnsureImageOptions extends BuildImageOptions {
  readonly choice?: ImageChoice | undefined
}

/**
 * Sandboxes as hardened containers of a Docker daemon. Containers outlive the worker process; another worker can
 * attach.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function createDockerBackend(options: DockerBackendOptions = {}): DockerBackend {
  const settings = parseOptions(options)
  const engine = new DockerEngine(settings.requestTimeoutMs)
  const imageSource = readImageSource(
    settings.runnerDirectory,
    settings.baseImage ?? environmentVariable('PTC_BASE_IMAGE'),
    environmentVariable('PTC_NODE_IMAGE'),
  )
  const seccompFile = join(settings.runnerDirectory, 'image/seccomp.json')
  const seccomp = JSON.stringify(JSON.parse(readFileSync(seccompFile, 'utf8')))
  const { image: name, packages } = settings
  const images = new SandboxImages(engine, imageSource, defined({ image: name, packages }))
  const image = images.of()
  const { runtime, lifetimeSeconds, namespace, warm } = settings
  const factory = new ContainerFactory({ ...settings, engine, images, seccomp })
  const contents = new ImageContents(images, (program, signal) =>
    startServerContainer(engine, factory, program, signal),
  )
  const pool =
    namespace === undefined || warm === 0
      ? undefined
      : new WarmPool({
          namespace,
          size: warm,
          sandboxes: idleContainers({ ...settings, engine, factory, namespace }),
        })
  const connections = new Set<DockerConnection>()
  let closed = false

  async function create(spec: SandboxSpec, signal: AbortSignal) {
    const labels = containerLabels(spec, Math.floor(Date.now() / 1_000) + lifetimeSeconds)
    const body = await factory.createOptions(spec, labels)
    const containerId = await factory.create(containerName(spec), body, signal)
    return containerId === undefined ? undefined : { containerId, image: body.Image }
  }

  function track(connection: DockerConnection): DockerConnection {
    connections.add(connection)
    void connection.ended.then(() => connections.delete(connection))
    return connection
  }

  async function open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    // An idle container has no volume for files.
    const idle = spec.files ? undefined : await pool?.take(spec, signal)
    if (idle !== undefined) return track(idle)
    // The first session does not wait for the pool; later sessions use it.
    pool?.fill()
    for (;;) {
      const { containerId, image, state, created } = await findOrCreateContainer(
        engine,
        spec,
        () => create(spec, signal),
        signal,
      )
      try {
        return track(await factory.connect(containerId, state, image, signal, spec.files))
      } catch (error) {
        if (error instanceof BrokenCheckpointError) {
          await engine.remove(containerId)
          continue
        }
        // The new container never started. Remove it now, not at its expiry.
        if (created) await engine.remove(containerId).catch(() => {})
        // Another worker created this container and removed it: create it again.
        else if (state === 'created' && isGone(error) && !signal.aborted) continue
        throw error
      }
    }
  }

  /** Returns true when the container is removed (404) or is being removed (409). */
  function isGone(error: unknown): boolean {
    const status = statusOf(error)
    return status === 404 || status === 409
  }

  function assertOpen(): void {
    if (closed) throw new PtcError('SANDBOX_UNAVAILABLE', 'the Docker sandbox backend of this worker is closed')
  }

  return {
    name: 'docker',
    files: true,
    network: true,
    image: image.name,

    async open(spec, signal) {
      assertOpen()
      return withTimeout(openTimeoutMs, signal, (openSignal) => open(spec, openSignal)).catch((error: unknown) => {
        if (signal.aborted) throw error
        throw dockerError(error, `open sandbox ${spec.session}`)
      })
    },

    async attach(id, signal): Promise<SandboxConnection | undefined> {
      assertOpen()
      const found = await findContainer(engine, id, signal)
      if (found === undefined || found.state === 'foreign') return undefined
      // Only `open` has the files of a container that a dead worker has created and never started.
      if (found.state === 'created' && found.files !== undefined) return undefined
      try {
        const { containerId, state, image } = found
        if (state !== 'exited') return track(await factory.connect(containerId, state, image, signal))
        const exited = await connectToExited(engine, containerId, signal)
        if (exited) return exited
      } catch (error) {
        if (!(error instanceof BrokenCheckpointError)) throw error
      }
      await engine.remove(found.containerId)
      return undefined
    },

    checkpoints: createDockerCheckpoints(engine, async () => (await factory.capabilities()).supportsCheckpoint),

    async remove(id) {
      const found = await findContainer(engine, id)
      if (found !== undefined && found.state !== 'foreign') await engine.remove(found.containerId)
    },

    check() {
      return checkDaemon({ engine, timeoutMs: settings.checkTimeoutMs, runtime, image })
    },

    async close() {
      closed = true
      await Promise.all([pool?.close(), ...[...connections].map((connection) => connection.detach())])
    },

    contentsOf: ({ image: choice }, signal) => contents.of(choice, signal),

    async ensureImage({ choice, ...build } = {}) {
      const { warnings, supportsCheckpoint } = await factory.capabilities()
      for (const warning of warnings) build.onProgress?.(`warning: ${warning}`)
      if (supportsCheckpoint) build.onProgress?.('gVisor: waiting sandboxes are checkpointed to disk')
      const wanted = images.of(choice)
      const built = await wanted.ensure(build)
      if (built) images.invalidate()
      if (wanted.name === image.name) pool?.fill()
      return { image: wanted.name, built }
    },

    imageName: (choice) => images.of(choice).name,

    listImages: () => listImages(engine, imageSource.digest),

    async pruneImages({ dryRun = false } = {}) {
      const pruned: ListedImage[] = []
      for (const each of prunableImages(await listImages(engine, imageSource.digest)))
        if (dryRun || (await removeImage(engine, each))) pruned.push(each)
      return pruned
    },

    startServer: (program, signal) => startServerContainer(engine, factory, program, signal),

    listSandboxes: (namespace) => listSandboxes(engine, namespace),

    countIdleContainers: () => countIdleContainers(engine, new Date()),

    keepAlive: (namespace, signal) => keepSandboxesAlive(engine, namespace, signal),
    sampleUsage: (namespace, limit) => sampleUsage(engine, namespace, limit),

    async removeExpired(reap) {
      await removeExpiredIdleContainers(engine, reap)
      return removeExpiredSandboxes(engine, reap)
    },
  }
}
