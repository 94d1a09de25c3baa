import type { DockerEngine } from '../engine/docker-engine.js'
import { hasCheckpoint } from './checkpoint.js'
import type { ListedContainer } from './list-containers.js'

/**
 * The state of a sandbox's container. Without a container there is no sandbox.
 *
 * | state     | meaning                       | transitions                                             |
 * |-----------|-------------------------------|---------------------------------------------------------|
 * | `created` | created, never started        | start: `running`                                        |
 * | `running` | running, or paused by a user  | exit: `exited`; checkpoint: `parked`                    |
 * | `parked`  | exited, with a checkpoint     | start from checkpoint: `running`, or removed if broken  |
 * | `exited`  | exited, dead or being removed | none: only its exit is reported, and then it is removed |
 */
export type ContainerState = ConnectableState | 'exited'

/** The states of a container that can be connected to. */
export type ConnectableState = 'created' | 'running' | 'parked'

/** @throws PtcError SANDBOX_UNAVAILABLE */
export async function readContainerState(
  engine: DockerEngine,
  { id, state }: ListedContainer,
  signal?: AbortSignal,
): Promise<ContainerState> {
  if (!isStopped(state)) return state === 'created' ? 'created' : 'running'
  return (await hasCheckpoint(engine, id, signal)) ? 'parked' : 'exited'
}

/** True for a container that has ended and may have a checkpoint. */
export function isStopped(state: ListedContainer['state']): boolean {
  return !['created', 'running', 'paused', 'restarting'].includes(state)
}
