import { randomUUID } from 'node:crypto'
import type { Limits } from '../../../common/run/limits.js'
import type { DockerConnection } from '../connection/docker-connection.js'
import type { ContainerCreateOptions } from '../container/container-create-options.js'
import type { ContainerFactory } from '../container/container-factory.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { listContainers, namespaceFilter, parseUnixSeconds } from '../container/list-containers.js'
import { labelKeys } from '../container/sandbox-identity.js'

/** A started container without a session. The pool is attached to it, and its runner waits for the first message. */
export interface IdleContainer {
  /** The name until a session claims the container. */
  readonly name: string
  readonly containerId: string
  readonly body: ContainerCreateOptions
  readonly connection: DockerConnection
  /** A time of `performance.now`. After this time the pool replaces the container, before a reaper removes it. */
  readonly usableUntil: number
}

/** The prefix of the names of idle containers. Such a name has no dot, unlike the name of a sandbox. */
const namePrefix = 'ptc-idle-'

function isIdleContainerName(name: string): boolean {
  return name.startsWith(namePrefix) && !name.includes('.')
}

export interface IdleContainerOptions {
  readonly engine: DockerEngine
  readonly factory: ContainerFactory
  readonly namespace: string
  readonly pool: string
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

/** @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
export async function createIdleContainer(options: IdleContainerOptions): Promise<IdleContainer> {
  const { engine, factory, namespace, pool, limits, language, maxIdleSeconds, lifetimeSeconds } = options
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

type ClaimOutcome =
  | 'claimed'
  /** Another container has the name, because the session already has a sandbox. */
  | 'exists'
  /** The idle container is removed, exited or paused. */
  | 'unusable'

/**
 * Claims an idle container for the sandbox with this name. The rename is the claim: Docker gives a name to only one
 * container, also with several claimants.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE; the reason of `signal`
 */
export async function claimIdleContainer(
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

/** Removes an idle container by its name: a container that was claimed in the meantime has another name. */
export async function discardIdleContainer(engine: DockerEngine, { name, connection }: IdleContainer): Promise<void> {
  await Promise.all([connection.detach(), engine.remove(name).catch(() => {})])
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
