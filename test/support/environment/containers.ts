import Dockerode from 'dockerode'

/** Made for each question: tests change where the daemon is. */
const docker = () => new Dockerode()

/** Containers of a run, running or not. */
export function containersOf(workflowId: string): Promise<Dockerode.ContainerInfo[]> {
  return docker().listContainers({ all: true, filters: { label: [`ptc.workflow=${workflowId}`] } })
}

/** Those of them that run. */
export async function runningContainersOf(workflowId: string): Promise<Dockerode.ContainerInfo[]> {
  return (await containersOf(workflowId)).filter(({ State }) => State === 'running')
}

/** kill -9 of a run's containers, from outside; gives how many there were to kill. */
export async function killContainersOf(workflowId: string): Promise<number> {
  const kill = ({ Id }: Dockerode.ContainerInfo) => docker().getContainer(Id).kill()
  // One may end by itself meanwhile.
  const killed = await Promise.allSettled((await runningContainersOf(workflowId)).map(kill))
  return killed.filter(({ status }) => status === 'fulfilled').length
}

/** What a dead host left behind, for the end of a test. */
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
