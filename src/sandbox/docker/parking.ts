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
      if (found?.state !== 'running') return false
      // Of an attempt that was cut off.
      await dropCheckpoint(engine, found.container, signal)
      await checkpoint(engine, found.container, signal)
      return (await findContainer(engine, id, signal))?.state === 'parked'
    },
  }
}
