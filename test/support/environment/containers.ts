import type { WorkflowHandle } from '@temporalio/client'
import Dockerode from 'dockerode'
import { vi } from 'vitest'
import { execInContainer } from '../docker/exec-in-container.js'
import { pollOptions } from '../poll-options.js'

type Run = Pick<WorkflowHandle, 'workflowId'>

/** Creates a client for each request, because tests change DOCKER_HOST. */
const docker = () => new Dockerode()

/** Containers of a run, running or not. */
export function containersOf(workflowId: string): Promise<Dockerode.ContainerInfo[]> {
  return docker().listContainers({ all: true, filters: { label: [`ptc.workflow=${workflowId}`] } })
}

/** Running containers of a run. */
export async function runningContainersOf(workflowId: string): Promise<Dockerode.ContainerInfo[]> {
  return (await containersOf(workflowId)).filter(({ State }) => State === 'running')
}

/** kill -9 of a run's containers; returns the number of running containers. */
export async function killContainersOf(workflowId: string): Promise<number> {
  const kill = ({ Id }: Dockerode.ContainerInfo) => docker().getContainer(Id).kill()
  // A container may exit at the same time.
  const killed = await Promise.allSettled((await runningContainersOf(workflowId)).map(kill))
  return killed.filter(({ status }) => status === 'fulfilled').length
}

/** Kills the container of a run that must have one. */
export async function killContainer({ workflowId }: Run): Promise<void> {
  if ((await killContainersOf(workflowId)) === 0) throw new Error('there is no container to kill')
}

/** Number of containers of a run, running or not. */
export async function containerCount({ workflowId }: Run): Promise<number> {
  return (await containersOf(workflowId)).length
}

/** Id of the run's container. */
export async function runningContainerId({ workflowId }: Run): Promise<string> {
  const [running] = await runningContainersOf(workflowId)
  if (running === undefined) throw new Error('no container of the run is running')
  return running.Id
}

/** Ends code that runs until the file `/tmp/go` exists. */
export async function releaseCode({ workflowId }: Run): Promise<void> {
  const touch = async (): Promise<boolean> => {
    for (const { Id } of await runningContainersOf(workflowId))
      if ((await execInContainer(Id, ['touch', '/tmp/go']).catch(() => 1)) === 0) return true
    return false
  }
  await vi.waitUntil(touch, pollOptions)
}

/** Removes the containers of a run that a dead host left behind. */
export async function removeContainersOf(workflowId: string): Promise<void> {
  for (const { Id } of await containersOf(workflowId)) {
    await docker().getContainer(Id).remove({ force: true }).catch(ignoreConcurrentRemoval)
  }
}

/** A worker may remove a container at the same time: 404 when it has, 409 while it does. */
function ignoreConcurrentRemoval(thrown: unknown): void {
  const { statusCode } = thrown as { readonly statusCode?: number }
  if (statusCode !== 404 && statusCode !== 409) throw thrown
}
