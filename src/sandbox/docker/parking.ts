import type { SandboxParking } from '../backend.js'
import { findContainer } from './adopt.js'
import { checkpoint, dropCheckpoint } from './checkpoint.js'
import type { DockerEngine } from './engine.js'

/** Parking by gVisor's checkpoints: the stopped container and its checkpoint are the session; one is removed with the other. */
export function dockerParking(engine: DockerEngine, isAvailable: () => Promise<boolean>): SandboxParking {
  return {
    isAvailable,

    async park(id, signal) {
      const found = await findContainer(engine, id, signal)
      if (found?.state === 'parked') return true
      if (found?.state !== 'running' || (await hasEndedBefore(engine, found.container, signal))) return false
      // Of an attempt that was cut off.
      await dropCheckpoint(engine, found.container, signal)
      await checkpoint(engine, found.container, signal)
      return (await findContainer(engine, id, signal))?.state === 'parked'
    },
  }
}

/**
 * Was it woken? containerd (1.6) never learns that a container it started from a checkpoint was written to disk again: that one could not be
 * woken, and a process of containerd's would stay for ever. So each container is parked once; the one its session is rebuilt in may be again.
 */
async function hasEndedBefore(engine: DockerEngine, container: string, signal: AbortSignal): Promise<boolean> {
  const found = await engine.inspect(container, signal)
  return found !== undefined && !found.State.FinishedAt.startsWith('0001-')
}
