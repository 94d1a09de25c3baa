import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PtcError } from '../../common/errors.js'
import type { SandboxBackend, SandboxConnection, SandboxSpec } from '../backend.js'
import { findContainer, findOrCreate } from './adopt.js'
import { buildImage, type BuildImageOptions, fromEnvironment } from './build-image.js'
import { checkDaemon } from './check.js'
import { BrokenCheckpointError } from './checkpoint.js'
import type { DockerConnection } from './connection.js'
import { ContainerMaker } from './container-maker.js'
import { withDeadline } from './deadline.js'
import { connectToEnded } from './ended-connection.js'
import { DockerEngine } from './engine.js'
import { dockerError, statusOf } from './errors.js'
import { containerLabels, containerName } from './identity.js'
import { readImageSource } from './image-source.js'
import { inspectImage, isOfOldBase, resolveImage } from './image.js'
import {
  countSpares,
  listSandboxes,
  removeExpired,
  removeStaleSpares,
  type ListedSandbox,
  type ReapOptions,
} from './leftovers.js'
import { dockerParking } from './parking.js'
import { parseOptions, type DockerBackendOptions } from './options.js'
import { WarmPool } from './warm-pool.js'

export interface DockerBackend extends SandboxBackend {
  readonly name: 'docker'
  /** The image that sandboxes are made of. */
  readonly image: string
  /**
   * Makes sure that the daemon enforces what it must and that the image is there; builds it when it is the project's own
   * and is not. What the daemon can't enforce, but may be lived with, is told as progress.
   *
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED
   */
  ensureImage(options?: BuildImageOptions): Promise<{ readonly image: string; readonly built: boolean }>
  /** The sandboxes on this daemon, of one namespace or of all. */
  listSandboxes(namespace?: string): Promise<readonly ListedSandbox[]>
  /** Containers that are kept started on this daemon for sessions to come, by all workers. @throws PtcError SANDBOX_UNAVAILABLE */
  countSpares(): Promise<number>
  /** Removes sandboxes whose time is over, and says which; also what dead processes made ahead. */
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
  const source = readImageSource(settings.runnerDirectory, settings.baseImage ?? fromEnvironment('PTC_BASE_IMAGE'))
  const seccompFile = join(settings.runnerDirectory, 'image/seccomp.json')
  const seccomp = { profile: JSON.stringify(JSON.parse(readFileSync(seccompFile, 'utf8'))), file: seccompFile }
  const image = settings.image ?? source.tag
  const { runtime, sendMs, lifetimeSeconds, unclaimedSeconds, limits, owner, warm } = settings
  const maker = new ContainerMaker({
    engine,
    image,
    resolveImage: () => resolveImage(engine, source, image),
    seccomp,
    runtime,
    sendMs,
  })
  const pool =
    owner === undefined || warm === 0
      ? undefined
      : new WarmPool({ engine, maker, owner, limits, size: warm, unclaimedSeconds, lifetimeSeconds })
  const connections = new Set<DockerConnection>()
  let closed = false

  async function create(spec: SandboxSpec, signal: AbortSignal): Promise<string | undefined> {
    const labels = containerLabels(spec, Math.floor(Date.now() / 1_000) + lifetimeSeconds)
    return maker.create(containerName(spec), await maker.body(spec, labels, spec.limits), signal)
  }

  function track(connection: DockerConnection): DockerConnection {
    connections.add(connection)
    void connection.ended.then(() => connections.delete(connection))
    return connection
  }

  async function open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    const spare = await pool?.take(spec, signal)
    if (spare !== undefined) return track(spare)
    // The first session waits for no pool, but those after it find one.
    pool?.fill()
    for (;;) {
      const { container, state, isMine } = await findOrCreate(engine, spec, () => create(spec, signal), signal)
      try {
        return track(await maker.connect(container, state, signal))
      } catch (error) {
        if (error instanceof BrokenCheckpointError) {
          await engine.remove(container)
          continue
        }
        // Never started, so nothing is lost; a container that nobody knows of would only wait for its expiry.
        if (isMine) await engine.remove(container).catch(() => {})
        // Somebody else's, whose maker gave it up: the name is free again in a moment.
        else if (state === 'created' && isGone(error) && !signal.aborted) continue
        throw error
      }
    }
  }

  /** The container is gone, or on its way: Docker answers 404 or 409. */
  function isGone(error: unknown): boolean {
    const status = PtcError.isInstance(error) ? statusOf(error.cause) : undefined
    return status === 404 || status === 409
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
      try {
        if (found.state !== 'ended') return track(await maker.connect(found.container, found.state, signal))
        const ended = await connectToEnded(engine, found.container, signal)
        if (ended) return ended
      } catch (error) {
        if (!(error instanceof BrokenCheckpointError)) throw error
      }
      await engine.remove(found.container)
      return undefined
    },

    parking: dockerParking(engine, async () => (await maker.daemon()).keepsCheckpoints),

    async remove(id) {
      const found = await findContainer(engine, id)
      if (found !== undefined && found.state !== 'foreign') await engine.remove(found.container)
    },

    check() {
      const look = (signal: AbortSignal) => inspectImage(engine, source, image, signal)
      return checkDaemon({ engine, deadlineMs: settings.checkMs, runtime, image, inspectImage: look })
    },

    async close() {
      closed = true
      await Promise.all([pool?.close(), ...[...connections].map((connection) => connection.detach())])
    },

    async ensureImage(build = {}) {
      const { warnings, keepsCheckpoints } = await maker.daemon()
      for (const warning of warnings) build.onProgress?.(`warning: ${warning}`)
      if (keepsCheckpoints) build.onProgress?.('gVisor: sandboxes that wait are kept on disk')
      const { problem, remedy } = await inspectImage(engine, source, image, build.signal)
      if (problem === undefined && !(await isOfOldBase(engine, source, image, build.signal))) {
        pool?.fill()
        return { image, built: false }
      }
      if (problem !== undefined && image !== source.tag) {
        throw new PtcError('SANDBOX_IMAGE_MISSING', problem, { hint: remedy })
      }
      await buildImage(engine, source, image, build)
      await resolveImage(engine, source, image, build.signal)
      maker.forgetImage()
      pool?.fill()
      return { image, built: true }
    },

    listSandboxes: (namespace) => listSandboxes(engine, namespace),

    countSpares: () => countSpares(engine, new Date()),

    async removeExpired(reap) {
      await removeStaleSpares(engine, reap)
      return removeExpired(engine, reap)
    },
  }
}
