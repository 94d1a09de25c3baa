import { messageOf } from '../../common/errors.js'
import type { SandboxId } from '../backend.js'
import { orphanedExitCode } from '../sandbox-end.js'
import { type ContainerState, isStopped, readContainerState } from './container/container-state.js'
import { type ListedContainer, listContainers, namespaceFilter, parseUnixSeconds } from './container/list-containers.js'
import { keepAlivePath } from './container/container-create-options.js'
import { labelKeys, parseIdentity, type SandboxIdentity } from './container/sandbox-identity.js'
import { readInfo } from './engine/daemon-info.js'
import type { DockerEngine } from './engine/docker-engine.js'

/** A container with a session. */
export interface SessionContainer extends SandboxIdentity {
  readonly containerId: string
  readonly name: string
  /** Undefined when the label is invalid; such a container is never removed as expired. */
  readonly expiresAt: Date | undefined
}

/** A container with a session, in any state. */
export interface ListedSandbox extends SessionContainer {
  readonly state: ContainerState
}

/** Lists the sandboxes on this daemon, of one namespace or of all. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listSandboxes(engine: DockerEngine, namespace?: string): Promise<readonly ListedSandbox[]> {
  const found = await listSessionContainers(engine, namespace)
  // Docker lists the checkpoints of one container only. A daemon that is not experimental has none.
  const mayHaveCheckpoints =
    found.some(({ listed }) => isStopped(listed.state)) && (await readInfo(engine)).ExperimentalBuild === true
  return Promise.all(
    found.map(async ({ listed, container }) => {
      const isExited = isStopped(listed.state) && !mayHaveCheckpoints
      return { ...container, state: isExited ? 'exited' : await readContainerState(engine, listed) }
    }),
  )
}

interface FoundContainer {
  readonly listed: ListedContainer
  readonly container: SessionContainer
}

async function listSessionContainers(engine: DockerEngine, namespace?: string): Promise<readonly FoundContainer[]> {
  const listedContainers = await listContainers(engine, { label: [namespaceFilter(namespace)] })
  return listedContainers.flatMap((listed) => {
    const { id: containerId, name, labels } = listed
    const identity = parseIdentity(name, labels)
    if (identity === undefined) return []
    const expiresAt = parseUnixSeconds(labels[labelKeys.expires])
    return [{ listed, container: { ...identity, containerId, name, expiresAt } }]
  })
}

export interface ReapOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  readonly now: Date
  /**
   * Milliseconds by which clocks may differ: a sandbox is removed this time after its expiry. The skew does not apply
   * to idle containers: the loss of such a container costs only its start.
   */
  readonly clockSkewMs?: number | undefined
  /** Expired sandboxes for which this returns true are kept. */
  readonly isInUse?: ((id: SandboxId) => boolean) | undefined
}

/**
 * Notifies the running sandboxes of a namespace that a worker lives, by `docker exec` as root, which code can't
 * imitate.
 *
 * @throws AggregateError with all failures, after the last sandbox; the reason of the signal
 */
export async function keepSandboxesAlive(engine: DockerEngine, namespace: string, signal?: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  // The sandboxes are notified one after the other: the daemon may have hundreds, and has other work.
  for (const { listed } of await listSessionContainers(engine, namespace)) {
    if (listed.state !== 'running') continue
    const touch = ['/usr/bin/touch', keepAlivePath]
    await engine.execAsRoot(listed.id, touch, signal).catch((thrown) => failures.push(thrown))
    signal?.throwIfAborted()
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(messageOf).join('; '))
}

/**
 * Removes sandboxes that have expired or that ended because no worker lived, and returns them. Several reapers may run
 * at the same time.
 */
export async function removeExpiredSandboxes(
  engine: DockerEngine,
  options: ReapOptions,
): Promise<readonly SessionContainer[]> {
  const { namespace, now, clockSkewMs = 0, isInUse = () => false } = options
  const expiredBefore = new Date(now.getTime() - clockSkewMs)
  const removed: SessionContainer[] = []
  for (const { listed, container } of await listSessionContainers(engine, namespace)) {
    const { id, expiresAt, containerId } = container
    if (isInUse(id)) continue
    const isExpired = expiresAt !== undefined && expiresAt <= expiredBefore
    if (!isExpired && !(await isOrphaned(engine, listed))) continue
    // The container is removed by its id, because a new container with the same name may be in use.
    await engine.remove(containerId)
    removed.push(container)
  }
  return removed
}

async function isOrphaned(engine: DockerEngine, { id, state }: ListedContainer): Promise<boolean> {
  return isStopped(state) && (await engine.inspect(id))?.State.ExitCode === orphanedExitCode
}
