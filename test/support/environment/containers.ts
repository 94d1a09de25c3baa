import Dockerode from 'dockerode'

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
