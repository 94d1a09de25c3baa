import type { TemporalServer } from '../../worker/index.js'
import { aborted, endMs, endWithin, Interrupted, type Interrupts, lostMs } from './interrupts.js'
import type { OwnWorker } from './own-worker.js'
import { say } from './terminal.js'

/**
 * Lets a worker work until the user ends it, or it ends by itself.
 *
 * @throws PtcError when worker or server are lost; Interrupted at the second Ctrl-C
 */
export async function serve(worker: OwnWorker, server: TemporalServer, interrupts: Interrupts): Promise<void> {
  const lost = await Promise.race([worker.lost, server.lost, aborted(interrupts.first)])
  if (lost === undefined) say('\nfinishing what is under way; once more to end at once')
  await endWithin(lost === undefined ? endMs : lostMs, closeBoth(worker, server), interrupts.second)
  if (lost !== undefined) throw lost
  // Runs were recorded up to their last step, so an end at once costs nothing but a little work done again.
  if (interrupts.second.aborted) {
    throw new Interrupted('ended at once; what was under way goes on when a worker runs again')
  }
}

async function closeBoth(worker: OwnWorker, server: TemporalServer): Promise<void> {
  await worker.close()
  await server.close()
}
