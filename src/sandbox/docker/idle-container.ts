import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Limits } from '../../common/run/limits.js'
import type { DockerConnection } from './connection/docker-connection.js'
import type { ContainerCreateOptions } from './container/container-create-options.js'
import type { ContainerFactory } from './container/container-factory.js'
import type { DockerEngine } from './engine/docker-engine.js'
import { listContainers, namespaceFilter, parseUnixSeconds } from './container/list-containers.js'
import { containerName, labelKeys } from './container/sandbox-identity.js'
import type { ClaimOutcome, IdleSandbox, IdleSandboxes } from '../warm-pool.js'

interface IdleContainer extends IdleSandbox {
  /** The name until a session claims the container. */
  readonly name: string
  readonly containerId: string
  readonly body: ContainerCreateOptions
  readonly connection: DockerConnection
}

/** The prefix of the names of idle containers. Such a name has no dot, unlike the name of a sandbox. */
const namePrefix = 'ptc-idle-'

function isIdleContainerName(name: string): boolean {
  return name.startsWith(namePrefix) && !name.includes('.')
}

interface IdleContainerOptions {
  readonly engine: DockerEngine
  readonly factory: ContainerFactory
  readonly namespace: string
  readonly limits: Limits
  /** Name of the language of the container. */
  readonly language: string
  /** Seconds until any reaper may remove the container, if it has no session. */
  readonly maxIdleSeconds: number
  /** Seconds until a sandbox expires, from the time it gets a session. */
  readonly lifetimeSeconds: number
}

/**
 * An idle container is not used in the last fifth of its time, because the clocks of other hosts' reapers may differ.
 */
const usableFraction = 0.8

/** The containers of a warm pool. A reaper removes those of a dead process after they expire. */
export function idleContainers(options: IdleContainerOptions): IdleSandboxes<IdleContainer> {
  const { engine, factory } = options
  const pool = randomUUID()
  return {
    create: () => createIdleContainer(options, pool),
    async matcherOf(spec) {
      const wanted = withoutIdentity(await factory.createOptions(spec, {}))
      return ({ body }) => isDeepStrictEqual(withoutIdentity(body), wanted)
    },
    claim: (idle, spec, signal) => claimIdleContainer(engine, idle, containerName(spec), signal),
    // By its name: a container that was claimed in the meantime has another one.
    async discard({ name, connection }) {
      await Promise.all([connection.detach(), engine.remove(name).catch(() => {})])
    },
  }
}

/** Returns the create options without the user id and labels, which differ for each container. */
function withoutIdentity({ User: _user, Labels: _labels, ...rest }: ContainerCreateOptions): object {
  return rest
}

/** @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
async function createIdleContainer(options: IdleContainerOptions, pool: string): Promise<IdleContainer> {
  const { engine, factory, namespace, limits, language, maxIdleSeconds, lifetimeSeconds } = options
  const suffix = randomUUID()
  const name = `${namePrefix}${suffix}`
  const usableUntil = performance.now() + maxIdleSeconds * 1_000 * usableFraction
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const labels = {
    [labelKeys.namespace]: namespace,
    [labelKeys.pool]: pool,
    [labelKeys.idleExpires]: String(nowSeconds + maxIdleSeconds),
    // A session that claims the container at the last moment still has its whole lifetime.
    [labelKeys.expires]: String(nowSeconds + maxIdleSeconds + lifetimeSeconds),
  }
  const body = await factory.createOptions({ namespace, session: name, epoch: 0, language, limits }, labels)
  try {
    const containerId = (await factory.create(name, body)) ?? name
    const connection = await factory.connect(containerId, 'created', body.Image)
    return { name, containerId, body, connection, usableUntil }
  } catch (error) {
    await engine.remove(name).catch(() => {})
    throw error
  }
}

/**
 * Claims an idle container for the sandbox with this name. The rename is the claim: Docker gives a name to only one
 * container, also with several claimants.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE; the reason of `signal`
 */
async function claimIdleContainer(
  engine: DockerEngine,
  { name, containerId }: IdleContainer,
  sandboxContainerName: string,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  // Rename and inspect run in parallel to save time. The state is used only if the rename succeeds.
  const [renamed, found] = await Promise.all([
    engine.rename(name, sandboxContainerName, signal),
    engine.inspect(containerId, signal),
  ])
  if (renamed === 'taken') return 'exists'
  if (renamed === 'gone') return 'unusable'
  if (found?.State.Running === true && !found.State.Paused) return 'claimed'
  await engine.remove(containerId)
  return 'unusable'
}

/** Counts the running idle containers of all workers on this daemon. @throws PtcError SANDBOX_UNAVAILABLE */
export async function countIdleContainers(engine: DockerEngine, now: Date): Promise<number> {
  const pooled = await listContainers(engine, { label: [labelKeys.pool] })
  return pooled.filter(({ name, labels, state }) => {
    const expiresAt = parseUnixSeconds(labels[labelKeys.idleExpires])
    return isIdleContainerName(name) && state === 'running' && expiresAt !== undefined && expiresAt > now
  }).length
}

/**
 * Removes expired idle containers. Their worker is dead, because a living worker replaces them before they expire. They
 * are removed by name: a container that was claimed in the meantime has another name.
 */
export async function removeExpiredIdleContainers(
  engine: DockerEngine,
  { namespace, now }: { readonly namespace?: string | undefined; readonly now: Date },
): Promise<void> {
  const pooled = await listContainers(engine, { label: [labelKeys.pool, namespaceFilter(namespace)] })
  for (const { name, labels } of pooled) {
    const expiresAt = parseUnixSeconds(labels[labelKeys.idleExpires])
    if (isIdleContainerName(name) && expiresAt !== undefined && expiresAt <= now) await engine.remove(name)
  }
}
