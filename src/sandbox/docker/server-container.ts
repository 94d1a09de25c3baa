import { randomUUID } from 'node:crypto'
import { defined } from '../../common/defined.js'
import { defaultLanguageName } from '../../common/names.js'
import type { SandboxImageSpec } from '../backend.js'
import type { Limits } from '../../common/run/limits.js'
import type { DockerConnection } from './connection/docker-connection.js'
import { type ContainerCreateOptions, keepAlivePath } from './container/container-create-options.js'
import type { ContainerFactory } from './container/container-factory.js'
import type { DockerEngine } from './engine/docker-engine.js'

/** A server that speaks over its standard input and output, such as an MCP server. */
export interface ServerProgram {
  /** For people, in the name and in a label of the container. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly limits: Limits
  /** Undefined: as configured. */
  readonly image?: SandboxImageSpec
}

/** A label for people. Without `ptc.namespace` no reaper touches the container, which removes itself. */
const serverLabel = 'ptc.server'

/** The runner has another environment: a server gets that of its options. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' }

/** A container without a sign of life for an hour ends by itself. */
const keepAliveMs = 15 * 60_000

/**
 * Runs a server in a container with the hardening of a sandbox: no network, a read-only root, limits. Unlike a sandbox
 * it belongs to this process: Docker closes its standard input when this process ends, the supervisor ends it when it
 * stays, and Docker removes it.
 *
 * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED
 */
export async function startServerContainer(
  engine: DockerEngine,
  factory: ContainerFactory,
  program: ServerProgram,
  signal: AbortSignal,
): Promise<DockerConnection> {
  const { name, limits, image } = program
  const id = randomUUID()
  const sandbox = {
    namespace: serverLabel,
    session: id,
    epoch: 0,
    language: defaultLanguageName,
    limits,
    ...defined({ image }),
  }
  const hardened = await factory.createOptions(sandbox, { [serverLabel]: name })
  const readable = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 40)
  const container = await factory.create(`ptc-server-${readable}-${id}`, serverOptions(hardened, program), signal)
  if (container === undefined) throw new Error('another container has the name of a new one')
  let connection: DockerConnection
  try {
    connection = await factory.connect(container, 'created', hardened.Image, signal)
  } catch (thrown) {
    // A container that never started does not remove itself.
    await engine.remove(container).catch(() => undefined)
    throw thrown
  }
  const touch = (): void => {
    void engine.execAsRoot(container, ['/usr/bin/touch', keepAlivePath]).catch(() => undefined)
  }
  const timer = setInterval(touch, keepAliveMs).unref()
  void connection.ended.then(() => clearInterval(timer))
  return connection
}

function serverOptions(
  hardened: ContainerCreateOptions,
  { command, args, env }: ServerProgram,
): ContainerCreateOptions {
  const [supervisor = '', orphanSeconds = '', stoppedOrphanSeconds = ''] = hardened.Entrypoint
  return {
    ...hardened,
    Env: Object.entries({ ...environment, ...env }).map(([key, value]) => `${key}=${value}`),
    // The supervisor does not search PATH.
    Entrypoint: [supervisor, orphanSeconds, stoppedOrphanSeconds, '/usr/bin/env', '--', command, ...args],
    StdinOnce: true,
    HostConfig: { ...hardened.HostConfig, AutoRemove: true },
  }
}
