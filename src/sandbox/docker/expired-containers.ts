import type { SandboxId } from '../backend.js'
import { type ContainerState, readContainerState } from './container/container-state.js'
import { listContainers, namespaceFilter, parseUnixSeconds } from './container/list-containers.js'
import { labelKeys, parseIdentity, type SandboxIdentity } from './container/sandbox-identity.js'
import type { DockerEngine } from './engine/docker-engine.js'

/** A container with a session, in any state. */
export interface ListedSandbox extends SandboxIdentity {
  readonly containerId: string
  readonly name: string
  readonly state: ContainerState
  /** Undefined when the label is invalid; such a container is never removed as expired. */
  readonly expiresAt: Date | undefined
}

/** Lists the sandboxes on this daemon, of one namespace or of all. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listSandboxes(engine: DockerEngine, namespace?: string): Promise<readonly ListedSandbox[]> {
  const sandboxes: ListedSandbox[] = []
  for (const container of await listContainers(engine, { label: [namespaceFilter(namespace)] })) {
    const { id: containerId, name, labels } = container
    const identity = parseIdentity(name, labels)
    if (identity === undefined) continue
    const state = await readContainerState(engine, container)
    const expiresAt = parseUnixSeconds(labels[labelKeys.expires])
    sandboxes.push({ ...identity, containerId, name, state, expiresAt })
  }
  return sandboxes
}

export interface ReapOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  readonly now: Date
  /**
   * Milliseconds by which clocks may differ: a sandbox is removed only this long after its expiry. The skew is not
   * applied to idle containers: losing one costs only its start.
   */
  readonly clockSkewMs?: number | undefined
  /** Expired sandboxes for which this returns true are kept. */
  readonly isInUse?: ((id: SandboxId) => boolean) | undefined
}

/** Removes expired sandboxes and returns them. Several reapers may run at the same time. */
export async function removeExpiredSandboxes(
  engine: DockerEngine,
  options: ReapOptions,
): Promise<readonly ListedSandbox[]> {
  const { namespace, now, clockSkewMs = 0, isInUse = () => false } = options
  const expiredBefore = new Date(now.getTime() - clockSkewMs)
  const expired = (await listSandboxes(engine, namespace)).filter(
    ({ id, expiresAt }) => expiresAt !== undefined && expiresAt <= expiredBefore && !isInUse(id),
  )
  // Remove by container id: a new container with the same name may be in use.
  for (const { containerId } of expired) await engine.remove(containerId)
  return expired
}
