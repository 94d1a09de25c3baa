import type { SandboxCheckpoints } from '../../backend.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { createCheckpoint, deleteCheckpoint } from './checkpoint.js'
import { findContainer } from './find-container.js'

/** Checkpoints of gVisor: the stopped container and its checkpoint hold the session, and are removed together. */
export function createDockerCheckpoints(engine: DockerEngine, isAvailable: () => Promise<boolean>): SandboxCheckpoints {
  return {
    isAvailable,

    async checkpoint(id, signal) {
      const found = await findContainer(engine, id, signal)
      if (found?.state === 'parked') return true
      if (found?.state !== 'running' || (await hasExitedBefore(engine, found.containerId, signal))) return false
      // A checkpoint of a running container was left by an interrupted park or resume.
      await deleteCheckpoint(engine, found.containerId, signal)
      await createCheckpoint(engine, found.containerId, signal)
      return (await findContainer(engine, id, signal))?.state === 'parked'
    },
  }
}

/**
 * Returns true when the container was started from a checkpoint before. containerd 1.6 never records the exit of such a
 * container when it is checkpointed again: the container could not be restored, and a process of containerd would never
 * end. So each container is checkpointed once. After a rebuild of the session, the new container may be checkpointed
 * again.
 */
async function hasExitedBefore(engine: DockerEngine, container: string, signal: AbortSignal): Promise<boolean> {
  const found = await engine.inspect(container, signal)
  return found !== undefined && !found.State.FinishedAt.startsWith('0001-')
}
