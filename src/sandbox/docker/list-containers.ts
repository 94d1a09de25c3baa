import type { DockerEngine } from './engine.js'
import type { Labels } from './identity.js'

export interface ListedContainer {
  readonly id: string
  /** Without the slash that Docker puts before it. */
  readonly name: string
  readonly labels: Labels
  /** As Docker calls it: `created`, `running`, `exited` … */
  readonly state: string
}

/** The containers, running or not, that pass Docker's filters. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listContainers(
  engine: DockerEngine,
  filters: Readonly<Partial<Record<'label' | 'name', readonly string[]>>>,
  signal?: AbortSignal,
): Promise<readonly ListedContainer[]> {
  const containers = await engine.call({ doing: 'list the sandboxes', signal }, (docker, abortSignal) =>
    docker.listContainers({ all: true, filters: JSON.stringify(filters), abortSignal }),
  )
  return (containers ?? []).map(({ Id, Names, Labels, State }) => ({
    id: Id,
    name: (Names[0] ?? Id).replace(/^\//, ''),
    // Null when there are none, whatever the types say.
    labels: Labels ?? {},
    state: State,
  }))
}
