import type { SandboxId } from '../backend.js'
import { hasCheckpoint } from './checkpoint.js'
import type { DockerEngine } from './engine.js'
import { type Identity, identityOf, label } from './identity.js'
import { listContainers } from './list-containers.js'
import { isSpareName } from './spare.js'

/** A container of ours that has a session, running or not. */
export interface ListedSandbox extends Identity {
  readonly container: string
  readonly name: string
  readonly running: boolean
  /** Ended, but to be had back as it was. */
  readonly parked: boolean
  /** Undefined when the label is broken: then it is left to people. */
  readonly expiresAt: Date | undefined
}

/** Every sandbox on this daemon, of one namespace or of all. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listSandboxes(engine: DockerEngine, namespace?: string): Promise<readonly ListedSandbox[]> {
  const containers = await listContainers(engine, { label: [ownedBy(namespace)] })
  const sandboxes: ListedSandbox[] = []
  for (const { id: container, name, labels, state } of containers) {
    const identity = identityOf(name, labels)
    if (identity === undefined) continue
    const parked = state === 'exited' && (await hasCheckpoint(engine, container))
    const expiresAt = timeOf(labels[label.expires])
    sandboxes.push({ ...identity, container, name, running: state === 'running', parked, expiresAt })
  }
  return sandboxes
}

function ownedBy(namespace: string | undefined): string {
  return namespace === undefined ? label.owner : `${label.owner}=${namespace}`
}

function timeOf(seconds: string | undefined): Date | undefined {
  const time = Number(seconds ?? Number.NaN)
  return Number.isFinite(time) ? new Date(time * 1_000) : undefined
}

export interface ReapOptions {
  /** Only this namespace; all when absent. */
  readonly namespace?: string | undefined
  readonly now: Date
  /** Milliseconds that clocks may differ: no session is removed sooner than that after its time. A spare is nobody's, and soon made again. */
  readonly clockErrorMs?: number | undefined
  /** What must stay although its time is over: a sandbox somebody here works with. */
  readonly keep?: ((id: SandboxId) => boolean) | undefined
}

/** Removes the sandboxes whose time is over; tells which. Two reapers at once do no harm. */
export async function removeExpired(engine: DockerEngine, options: ReapOptions): Promise<readonly ListedSandbox[]> {
  const { namespace, now, clockErrorMs = 0, keep = () => false } = options
  const surely = new Date(now.getTime() - clockErrorMs)
  const expired = (await listSandboxes(engine, namespace)).filter(
    ({ id, expiresAt }) => expiresAt !== undefined && expiresAt <= surely && !keep(id),
  )
  // By container id: a new one under the same name is somebody's living session.
  for (const { container } of expired) await engine.remove(container)
  return expired
}

/** Containers that wait on this daemon for sessions to come, whoever made them. @throws PtcError SANDBOX_UNAVAILABLE */
export async function countSpares(engine: DockerEngine, now: Date): Promise<number> {
  const made = await listContainers(engine, { label: [label.pool] })
  return made.filter(({ name, labels, state }) => {
    const until = timeOf(labels[label.unclaimedUntil])
    return isSpareName(name) && state === 'running' && until !== undefined && until > now
  }).length
}

/**
 * Removes the containers made ahead that nobody wanted in their time: their process is dead, for a living one replaces
 * them before. By name: one that got a session this moment has another.
 */
export async function removeStaleSpares(engine: DockerEngine, { namespace, now }: ReapOptions): Promise<void> {
  for (const { name, labels } of await listContainers(engine, { label: [label.pool, ownedBy(namespace)] })) {
    const until = timeOf(labels[label.unclaimedUntil])
    if (isSpareName(name) && until !== undefined && until <= now) await engine.remove(name)
  }
}
