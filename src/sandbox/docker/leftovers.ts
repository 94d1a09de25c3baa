import type { SandboxId } from '../backend.js'
import type { DockerEngine } from './engine.js'
import { identityOf, label } from './identity.js'

/** A container of ours, running or not. */
export interface ListedSandbox {
  readonly id: SandboxId
  readonly container: string
  readonly name: string
  readonly workflowId: string
  readonly runId: string
  readonly running: boolean
  /** Undefined when the label is broken: then it is left to people. */
  readonly expiresAt: Date | undefined
}

/** Every sandbox on this daemon, of one namespace or of all. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listSandboxes(engine: DockerEngine, namespace?: string): Promise<readonly ListedSandbox[]> {
  const filter = namespace === undefined ? label.owner : `${label.owner}=${namespace}`
  const containers = await engine.call({ doing: 'list the sandboxes' }, (docker, abortSignal) =>
    docker.listContainers({ all: true, filters: { label: [filter] }, abortSignal }),
  )
  return (containers ?? []).flatMap(({ Id, Names, Labels, State }) => {
    const id = identityOf(Labels)
    if (id === undefined) return []
    const expires = Number(Labels[label.expires] ?? Number.NaN)
    return {
      id,
      container: Id,
      name: (Names[0] ?? Id).replace(/^\//, ''),
      workflowId: Labels[label.workflow] ?? '',
      runId: Labels[label.run] ?? '',
      running: State === 'running',
      expiresAt: Number.isFinite(expires) ? new Date(expires * 1_000) : undefined,
    }
  })
}

export interface ReapOptions {
  /** Only this namespace; all when absent. */
  readonly namespace?: string | undefined
  readonly now: Date
  /** What must stay although its time is over: a sandbox somebody here works with. */
  readonly keep?: ((id: SandboxId) => boolean) | undefined
}

/** Removes the sandboxes whose time is over; tells which. Two reapers at once do no harm. */
export async function removeExpired(engine: DockerEngine, options: ReapOptions): Promise<readonly ListedSandbox[]> {
  const { namespace, now, keep = () => false } = options
  const expired = (await listSandboxes(engine, namespace)).filter(
    ({ id, expiresAt }) => expiresAt !== undefined && expiresAt <= now && !keep(id),
  )
  // By container id: a new one under the same name is somebody's living session.
  for (const { container } of expired) await engine.remove(container)
  return expired
}
