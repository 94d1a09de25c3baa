import type { TemporalServer } from '../../dev-server/index.js'
import { waitForAbort } from '../../common/async/abort.js'
import { waitAtMost, Interrupted, type Interrupts, exitedShutdownTimeoutMs } from '../process/interrupts.js'
import type { CliWorker } from './cli-worker.js'
import { printStatus } from '../process/stdio.js'

/**
 * Waits until the user stops the worker, or until the worker or the server exits; then closes both.
 *
 * @param inform prints a line about the shutdown
 * @throws PtcError of an unexpected exit; Interrupted on the second Ctrl-C
 */
export async function runUntilStopped(
  worker: CliWorker,
  server: TemporalServer,
  interrupts: Interrupts,
  inform = printStatus,
): Promise<void> {
  const exitError = await Promise.race([worker.unexpectedExit, server.unexpectedExit, waitForAbort(interrupts.first)])
  if (exitError === undefined) inform('\nfinishing running activities; press Ctrl-C again to stop now')
  await waitAtMost(
    exitError === undefined ? worker.closeTimeoutMs : exitedShutdownTimeoutMs,
    closeBoth(worker, server),
    interrupts.second,
  )
  if (exitError !== undefined) throw exitError
  // Every finished step is recorded; only unfinished work is repeated.
  if (interrupts.second.aborted) {
    throw new Interrupted('stopped; running runs resume when a worker runs again')
  }
}

async function closeBoth(worker: CliWorker, server: TemporalServer): Promise<void> {
  await worker.close()
  await server.close()
}
