import type { DockerEngine } from '../engine/docker-engine.js'
import { labelKeys, type Labels } from './sandbox-identity.js'

export interface ListedContainer {
  readonly id: string
  /** Without Docker's leading slash. */
  readonly name: string
  readonly labels: Labels
  /** The id of the image. */
  readonly image: string
  /** The state in Docker's terms: `created`, `running`, `exited` … */
  readonly state: string
}

/** Lists the containers in any state that match Docker's filters. @throws PtcError SANDBOX_UNAVAILABLE */
export async function listContainers(
  engine: DockerEngine,
  filters: Readonly<Partial<Record<'label' | 'name', readonly string[]>>>,
  signal?: AbortSignal,
): Promise<readonly ListedContainer[]> {
  const containers = await engine.call({ action: 'list the sandboxes', signal }, (docker, abortSignal) =>
    docker.listContainers({ all: true, filters: JSON.stringify(filters), abortSignal }),
  )
  return (containers ?? []).map(({ Id, Names, Labels, ImageID, State }) => ({
    id: Id,
    image: ImageID,
    name: (Names[0] ?? Id).replace(/^\//, ''),
    // The value is null when there are no labels, although dockerode's types exclude null.
    labels: Labels ?? {},
    state: State,
  }))
}

/** Returns the label filter for all containers of durable-ptc, or for the containers of one namespace. */
export function namespaceFilter(namespace: string | undefined): string {
  return namespace === undefined ? labelKeys.namespace : `${labelKeys.namespace}=${namespace}`
}

/** Returns the time in a label; undefined when the label is missing or invalid. */
export function parseUnixSeconds(seconds: string | undefined): Date | undefined {
  const time = Number(seconds ?? Number.NaN)
  return Number.isFinite(time) ? new Date(time * 1_000) : undefined
}
