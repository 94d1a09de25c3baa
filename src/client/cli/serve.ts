import { PtcError } from '../../common/errors.js'
import type { TemporalServer } from '../../worker/index.js'
import { aborted, Interrupted, type Interrupts } from './interrupts.js'
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
  await orAtOnce(closeBoth(worker, server), interrupts)
  if (PtcError.isInstance(lost)) throw lost
}

/** Runs were recorded up to their last step, so an end at once costs nothing but a little work done again. */
async function orAtOnce(closing: Promise<void>, { second }: Interrupts): Promise<void> {
  await Promise.race([
    closing,
    aborted(second).then(() => {
      throw new Interrupted('ended at once; what was under way goes on when a worker runs again')
    }),
  ])
}

async function closeBoth(worker: OwnWorker, server: TemporalServer): Promise<void> {
  await worker.close()
  await server.close()
}
